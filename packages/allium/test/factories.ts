import * as otel from '@allium/observe/otel'
import { guard, memory, model, observe, tools } from '../src/index.ts'

/** What packs export beside layers. */
const others = [
  'guard.injectionScore',
  'memory.exportSessions',
  'memory.importSessions',
  'model.isTransient',
  'model.memoryKeyValue',
  'model.objectStream',
  'observe.auditFile',
  'observe.verify',
]

type Factory = (options?: unknown) => object

/** The factories of layers that the packs export, by their names, such as `guard.budget`. */
export const factories: Readonly<Record<string, Factory>> = Object.fromEntries(
  Object.entries({ guard, memory, model, observe: { ...observe, ...otel }, tools }).flatMap(([pack, exported]) =>
    Object.entries(exported as Record<string, unknown>).flatMap(([name, value]) =>
      typeof value === 'function' && !others.includes(`${pack}.${name}`) ? [[`${pack}.${name}`, value as Factory]] : [],
    ),
  ),
)
