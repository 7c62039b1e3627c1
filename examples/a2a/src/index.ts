import { scriptedModel } from 'allium/testing'
import { callerOf, type Told } from './ask.ts'
import { createDeskAgent } from './desk-agent.ts'
import { serveA2A } from './serve.ts'

const played = scriptedModel([
  { text: 'Let me see. ', toolCalls: [{ name: 'book_room', args: { room: 'Onion', hour: 14 } }] },
  'The room Onion is yours at two.',
])
const server = await serveA2A(createDeskAgent(process.env.ALLIUM_MODEL || played), new Map([['key-of-ann', 'ann']]))
try {
  const caller = await callerOf(server.url, 'key-of-ann')
  const asked = show(await caller.ask('A room for two o’clock, please.'))
  if (asked.states.at(-1) === 'input_required') show(await caller.ask('Yes.', asked))
} finally {
  await server.close()
}

function show(told: Told): Told {
  console.log(`${told.states.join(' > ').padEnd(28)} ${told.text}`)
  if (told.said !== '') console.log(`${''.padEnd(28)} ${told.said}`)
  return told
}
