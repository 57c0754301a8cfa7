// A conversation with the bot on a Bot API that others have written: it knows few methods, holds no request back, and
// answers everything else with 500. A bot has to live with such a server too.
//
// Its first line is the server's address. It begins when a line comes back: the bot runs then.
import assert from 'node:assert/strict';
import {createRequire} from 'node:module';
import {createServer} from 'node:net';
import {createInterface} from 'node:readline';
import {setTimeout as pass} from 'node:timers/promises';

const TelegramServer = createRequire(`${process.env.GLIS_MODULES}/`)('telegram-test-api');
const token = process.env.GLIS_TOKEN;
const user = Number(process.env.GLIS_USER);

async function freePort() {
  const probe = createServer();
  await new Promise((done) => probe.listen(0, '127.0.0.1', done));
  const {port} = probe.address();
  await new Promise((done) => probe.close(done));
  return port;
}

const server = new TelegramServer({port: await freePort(), host: '127.0.0.1'});
let polls = 0;
const given = server.getUpdates.bind(server);
server.getUpdates = (of) => {
  polls += 1;
  return given(of);
};
await server.start();
console.log(server.config.apiURL);
await new Promise((begun) => createInterface({input: process.stdin}).once('line', begun));

const client = server.getClient(token, {userId: user, chatId: user});
const said = () => server.storage.botMessages;

/** Waits for a message with these words. */
async function hear(words) {
  for (let left = 600; left > 0; left -= 1) {
    const found = said().find((it) => it.message.text.includes(words));
    if (found) return found;
    await pass(100);
  }
  assert.fail(`${words} was not said: ${JSON.stringify(said().map((it) => it.message.text))}`);
}

await client.sendCommand(client.makeCommand('/new blue'));
await hear('Session blue created.');
await client.sendMessage(client.makeMessage('say **hello** there'));
const {message: hello} = await hear('hello there');
assert.deepEqual(hello.entities, [{type: 'bold', offset: 0, length: 5}]);

await client.sendMessage(client.makeMessage('approve touch it? ;; say went on'));
const card = await hear('blue asks for approval');
const [[allow]] = card.message.reply_markup.inline_keyboard;
assert.equal(allow.text, 'Allow once');
const options = {message: {message_id: card.messageId}};
await client.sendCallback(client.makeCallbackQuery(allow.callback_data, options));
await hear('went on');
await hear('Allowed once');

// An agent at work is seen, though the server fails at drafts, and its words are not held up by that.
await client.sendMessage(client.makeMessage(`say begun ;; ${'run true ;; work 2 ;; '.repeat(6)}say ended`));
const picture = await hear('\u2699');
await hear('begun\n\nended');
for (let left = 100; left > 0 && said().includes(picture); left -= 1) await pass(100);
assert.ok(!said().includes(picture), 'the picture goes behind the words');

const before = polls;
await pass(5000);
assert.ok(polls - before <= 7, `${polls - before} requests in five seconds of silence`);
await server.stop();
