import { textOf } from 'allium'
import { createResolver } from 'allium/ai-sdk'
import { createMailAgent, sendMail } from './mail-agent.ts'
import { overhear } from './overhear.ts'
import { playedModel } from './played-model.ts'
import { openRecords } from './records.ts'

const { ALLIUM_MODEL: ref } = process.env
const { model, recorded } = overhear(ref ? await createResolver()(ref) : playedModel())
const records = openRecords()
const outbox: { to: string; text: string }[] = []
const agent = createMailAgent(
  model,
  records,
  sendMail((mail) => void outbox.push(mail)),
)

const wrote = 'Tell dana@example.com that her card 4111 1111 1111 1111 is renewed. My number is +47 22 33 44 55.'
const session = agent.session({ id: 'chat-1' })
const read: string[] = []
const run = session.run(wrote)
for await (const text of run.textStream) read.push(text)
const { state, toolCalls } = await run

show('the user wrote', wrote)
show(
  'the model received',
  recorded.sent
    .filter(({ role }) => role === 'user')
    .map(textOf)
    .join(),
)
show('the model called', JSON.stringify(toolCalls[0]?.args))
show('the tool received', JSON.stringify(outbox[0]))
show('the tool returned', toolCalls[0]?.result.content)
show('the model answered', recorded.answered.map((piece) => JSON.stringify(piece)).join(' '))
show('the user saw', read.map((piece) => JSON.stringify(piece)).join(' '))
show('the history has', session.history.slice(-1).map(textOf).join())

const raw = [
  'dana@example.com',
  '4111 1111 1111 1111',
  '+47 22 33 44 55',
  'archive@acme.example',
  'ola.nordmann@acme.example',
]
const kept = {
  ...records.kept(),
  history: JSON.stringify(session.history),
  snapshot: JSON.stringify(session.snapshot()),
}
console.log('\nstored, with the contents of all messages:')
for (const [record, text] of Object.entries(kept)) {
  const found = raw.filter((value) => text.includes(value))
  const placeholders = new Set(text.match(/\[(EMAIL|CARD|PHONE)_\d\]/g))
  console.log(
    `  ${record.padEnd(9)} raw values: ${found.join(', ') || 'none'}; placeholders: ${[...placeholders].sort().join(' ')}`,
  )
}
console.log(`\n${state['guard:pii:found']} findings were replaced. The state has their number, but not their values.`)
await agent.dispose()

function show(what: string, text: unknown = '–'): void {
  console.log(`${what.padEnd(20)} ${text}`)
}
