import { manualClock } from '@allium/testing'
import { expect, it } from 'vitest'
import { type Encryption, sqlite } from '../src/index.ts'
import { fileIn } from './files.ts'

const flip = (bytes: Uint8Array) => bytes.map((byte) => byte ^ 7)

/** A store with two runs. The key service fails for the first one, after some milliseconds on the clock of the store. */
async function scene({ takes }: { takes: number }) {
  const clock = manualClock()
  let isDown = false
  const encrypt: Encryption = {
    seal: flip,
    async open(bytes, { row }) {
      if (!isDown || !row.includes('"first"')) return flip(bytes)
      await clock.advance(takes)
      throw new Error('The key service does not answer.')
    },
  }
  const { runs, close } = sqlite(fileIn(), { encrypt, clock })
  for (const run of ['first', 'second']) {
    const key = { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: run }
    await runs.add({ run, key, agent: 'agent', version: '1', task: { input: 'Hi' } })
  }
  isDown = true
  const claim = (ms: number) => runs.claim({ agents: [{ name: 'agent', version: '1' }], limit: 1, ms, alone: false })
  return { claim, close }
}

it('claims the run behind one that cannot be opened, however slow the machine is', async () => {
  const { claim, close } = await scene({ takes: 0 })
  // A quarter of this lease is over in real time before the first run was opened. On the clock of the store no time passes.
  const claimed = await claim(1e-9)
  expect(claimed.map(({ run }) => run.run)).toEqual(['second'])
  close()
})

it('claims no further runs once a quarter of their leases is over', async () => {
  const { claim, close } = await scene({ takes: 26 })
  await expect(claim(100)).rejects.toMatchObject({ code: 'store.unavailable' })
  close()
})
