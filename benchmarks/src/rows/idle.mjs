import { mock } from '../sides/mock.mjs'
import { tally } from '../sides/tally.mjs'

const conversations = 10_000

/** Bytes of a conversation that waits: after `turns` turns, its messages included. @param {number} turns */
export function idle(turns) {
  return {
    async loop() {
      const { conversation, loop } = await import('../sides/loop.mjs')
      const setup = { model: mock() }
      return bytesOf(turns, conversation, (messages) => loop(setup, messages, 'Hi'))
    },
    async allium() {
      const { everythingOn } = await import('../sides/allium.mjs')
      const agent = await everythingOn({ model: mock() })
      return bytesOf(
        turns,
        () => agent.session(),
        (session) => session.run('Hi'),
      )
    },
  }
}

function bytesOf(turns, open, run) {
  const { add, check } = tally()
  return {
    async sample() {
      const all = new Array(conversations).fill(undefined)
      const before = await heap()
      for (let i = 0; i < conversations; i++) {
        all[i] = open()
        for (let turn = 0; turn < turns; turn++) add(await run(all[i]))
      }
      const after = await heap()
      return (after - before) / all.length
    },
    check: () => (turns === 0 ? { conversations } : check()),
  }
}

/** Bytes in use once all that nobody holds is gone. Needs --expose-gc. */
async function heap() {
  for (let i = 0; i < 3; i++) {
    await new Promise(setImmediate)
    globalThis.gc()
  }
  return process.memoryUsage().heapUsed
}
