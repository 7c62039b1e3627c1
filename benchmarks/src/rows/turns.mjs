import { isDeepStrictEqual } from 'node:util'
import { mock, weather } from '../sides/mock.mjs'
import { tally } from '../sides/tally.mjs'
import { timed } from '../timed.mjs'

/** Turns of `steps` tool calls, each in a conversation of its own. @param {{ steps: number, count: number }} work */
export function turns({ steps, count }) {
  return {
    async loop() {
      const { conversation, loop } = await import('../sides/loop.mjs')
      const setup = { model: mock({ steps }), tools: new Map([[weather.name, weather]]) }
      const { add, check } = tally()
      const turn = async () => add(await loop(setup, conversation(), 'Hi'))
      return { sample: () => timed(count, turn), check }
    },
    async allium() {
      const { everythingOn, seen } = await import('../sides/allium.mjs')
      const agent = await everythingOn({ model: mock({ steps }), tools: [weather] })
      const { add, check } = tally()
      const turn = async () => add(await agent.session().run('Hi'))
      return { sample: () => timed(count, turn), check: () => observed(check(), seen) }
    },
  }
}

/** Fails unless the six listeners heard of all that was done. */
function observed(check, seen) {
  const { turns, modelCalls, toolCalls } = check
  const due = { turn: turns, model: modelCalls, tool: toolCalls }
  const expected = Object.fromEntries(Object.keys(seen).map((name) => [name, due[name.split(':')[0]]]))
  if (!isDeepStrictEqual(seen, expected)) throw new Error(`The listeners heard ${JSON.stringify(seen)}.`)
  return check
}
