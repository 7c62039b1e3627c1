import type { Middleware } from '@allium/core'
import { memoryLedger } from '@allium/store'
import { expect, it } from 'vitest'
import { layerConformance, ledgerCases, ledgerConformance } from '../../src/index.ts'

/** A runner that only writes down what is registered. */
function runner({ skip = true } = {}) {
  const log: string[] = []
  const define = (name: string, body: () => void) => {
    log.push(`describe ${name}`)
    body()
  }
  const test = (name: string, run: () => Promise<void>) => void log.push(typeof run === 'function' ? name : '?')
  const skipped = { skip: (name: string) => void log.push(`skip ${name}`) }
  return { log, describe: define, it: Object.assign(test, skip ? skipped : {}) }
}
const [first = '', second = ''] = ledgerCases(() => memoryLedger()).map(({ name }) => name)

it('each case becomes a test of its name; a skipped one tells the reason', () => {
  const { log, ...functions } = runner()
  ledgerConformance({
    name: 'mine',
    makeLedger: () => memoryLedger(),
    skip: { [second]: 'it counts calls' },
    ...functions,
  })
  expect(log.slice(0, 3)).toEqual(['describe mine', first, `skip ${second} (skipped: it counts calls)`])
})

it('a runner that cannot skip does not hear of the case', () => {
  const { log, ...functions } = runner({ skip: false })
  ledgerConformance({ makeLedger: () => memoryLedger(), skip: { [first]: 'it counts calls' }, ...functions })
  expect(log.slice(0, 2)).toEqual(['describe a Ledger', second])
})

it('a layer names its tests', () => {
  const { log, ...functions } = runner()
  const layer: Middleware = { name: 'mine', tool: (_, next) => next() }
  layerConformance({ layer: () => layer, ...functions })
  expect(log[0]).toBe('describe mine')
})
