import { isDeepStrictEqual } from 'node:util'
import { mock, weather } from '../sides/mock.mjs'
import { tally } from '../sides/tally.mjs'
import { timed } from '../timed.mjs'

/** Turns of `steps` tool calls, each in a conversation of its own. @param {{ steps: number, count: number }} work */
export function turns({ steps, count }) {
  const measured = ({ add, each, check }, run, seen = {}) => {
    const once = async () => add(await run())
    return {
      sample: () => timed(count, once),
      check: () => observed(check(), each(seen)),
      once,
      per: Math.max(1, steps),
    }
  }
  return {
    async loop() {
      const { conversation, loop } = await import('../sides/loop.mjs')
      const setup = { model: mock({ steps }), tools: new Map([[weather.name, weather]]) }
      return measured(tally(), () => loop(setup, conversation(), 'Hi'))
    },
    async allium() {
      const { everythingOn, seen } = await import('../sides/allium.mjs')
      const agent = await everythingOn({ model: mock({ steps }), tools: [weather] })
      return measured(tally(), () => agent.session().run('Hi'), seen)
    },
  }
}

/** Fails unless the six listeners heard of all that was done. */
function observed(check, seen) {
  const due = { turn: 1, model: check.modelCalls, tool: check.toolCalls }
  const expected = Object.fromEntries(Object.keys(seen).map((name) => [name, due[name.split(':')[0]]]))
  if (!isDeepStrictEqual(seen, expected)) throw new Error(`The listeners heard ${JSON.stringify(seen)} in a turn.`)
  return check
}
