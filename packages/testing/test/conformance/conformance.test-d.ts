import nodeTest from 'node:test'
import type { Middleware } from '@allium/core'
import { type Ledger, memoryEventLog, memoryLedger, memoryStore } from '@allium/store'
import { describe, expectTypeOf, it } from 'vitest'
import {
  type ConformanceCase,
  eventLogConformance,
  type LayerCaseName,
  layerCases,
  layerConformance,
  ledgerConformance,
  storeCases,
  storeConformance,
} from '../../src/index.ts'

const layer: Middleware = { name: 'mine', model: (_, next) => next() }

// describe and it of vitest, of node:test, and as jest declares them
storeConformance({ makeStore: ({ clock }) => memoryStore({ clock }), describe, it })
eventLogConformance({ makeLog: (given) => memoryEventLog(given), describe, it })
ledgerConformance({ makeLedger: () => memoryLedger(), describe: nodeTest.describe, it: nodeTest.it })
type Done = (() => Promise<unknown>) | ((done: (error?: string) => void) => void)
declare const jestIt: { (name: string, run?: Done, timeout?: number): void; skip(name: string, run?: Done): void }
declare const jestDescribe: (name: number | string | Function, define: () => void) => void
layerConformance({ layer, describe: jestDescribe, it: jestIt })

expectTypeOf(layerCases(() => layer)).toEqualTypeOf<ConformanceCase<LayerCaseName>[]>()
expectTypeOf(storeCases(async () => memoryStore())[0]).toEqualTypeOf<ConformanceCase | undefined>()

layerCases(layer, { skip: { 'model: lets errors through': 'it answers in their place' } })
// @ts-expect-error: no such case
layerCases(layer, { skip: { 'model: lets error through': 'a typing error' } })
// @ts-expect-error: a reason is a text
layerCases(layer, { skip: { 'model: lets errors through': true } })
// @ts-expect-error: a store comes from a factory, so that each case has an empty one
storeConformance({ makeStore: memoryStore(), describe, it })
// @ts-expect-error: not a store
storeCases(() => memoryLedger() as Ledger)
