import * as otel from '@allium/observe/otel'
import * as guard from '../src/guard.ts'
import * as memory from '../src/memory.ts'
import * as model from '../src/model.ts'
import * as observe from '../src/observe.ts'
import * as tools from '../src/tools.ts'

/** What packs export beside layers. */
const others = [
  'guard.injectionScore',
  'memory.exportSessions',
  'memory.importSessions',
  'model.isTransient',
  'model.memoryKeyValue',
  'model.objectStream',
  'observe.auditFile',
  'observe.feedbackEvaluations',
  'observe.recordEvaluation',
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
