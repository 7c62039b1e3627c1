import type { StandardSchemaV1 } from '@standard-schema/spec'
import { AlliumError } from '../errors/allium-error.ts'
import { checkSchema } from '../errors/check-schema.ts'
import type { ErrorCode } from '../errors/codes.ts'
import { describe } from '../errors/describe.ts'
import { isNear, unknownName } from '../errors/nearest.ts'
import { isPlainObject } from '../messages/json.ts'
import type { ScopeName } from '../onion/hook.ts'
import { type AnyMiddleware, type Layer, type LayerOrder, scopeNames, type ToMiddleware } from './middleware.ts'

/** Returns the layers of one `.use()` call. `position` names plain functions, such as `turn#2`. */
export function toLayers(first: unknown, second: unknown, position: number): Layer[] {
  if (typeof first === 'string') return [scoped(first, second, position)]
  if (typeof first === 'function') return [scoped('turn', first, position)]
  if (Array.isArray(first)) return ofList(first, position)
  const { toMiddleware } = (first ?? {}) as Partial<ToMiddleware>
  if (typeof toMiddleware === 'function') return toLayers(toMiddleware.call(first), second, position)
  return [layer(first, second)]
}

/** Flattens a list, including nested ones. Each layer gets its position in the whole list. */
function ofList(list: readonly unknown[], position: number): Layer[] {
  const layers: Layer[] = []
  for (const one of list) layers.push(...toLayers(one, undefined, position + layers.length))
  return layers
}

function scoped(scope: string, given: unknown, position: number): Layer {
  if (!scopeNames.includes(scope as ScopeName))
    throw invalid(`There is no scope ${describe(scope)}. The scopes are ${scopeNames.join(', ')}.`)
  const { process, name: own } = (given ?? {}) as { process?: unknown; name?: unknown }
  const hook = typeof process === 'function' ? process.bind(given) : given
  if (typeof hook !== 'function')
    throw invalid(
      `use('${scope}', …) takes a function (ctx, next) or an object with process(ctx, next), not ${describe(given)}.`,
    )
  const name = hook !== given && typeof own === 'string' && own ? own : `${scope}#${position}`
  return { name, spec: { name, [scope]: hook } as AnyMiddleware, config: undefined }
}

function layer(given: unknown, config: unknown): Layer {
  if (typeof given !== 'object' || given === null || given instanceof Promise)
    throw invalid(
      `use() takes a layer such as { name, turn(ctx, next) {…} }, a function, or an array of them, not ${describe(given)}.`,
    )
  const spec = given as AnyMiddleware
  const { name } = spec
  if (typeof name !== 'string' || name === '')
    throw invalid(`A layer given to use() has no name. Add one. (Its fields: ${Object.keys(given).join(', ')}.)`)
  checkKeys(name, given, layerKeys)
  checkKeys(name, spec.order ?? {}, orderKeys, 'in its order ')
  for (const scope of scopeNames) {
    const hook: unknown = spec[scope]
    if (hook !== undefined && typeof hook !== 'function')
      throw invalid(`The ${scope} hook of the layer "${name}" is ${describe(hook)}. Pass a function (ctx, next).`, {
        layer: name,
      })
  }
  if (!Array.isArray(spec.tools ?? []))
    throw invalid(`The tools of the layer "${name}" are ${describe(spec.tools)}. Pass a list.`, { layer: name })
  const what = `The config of the layer "${name}"`
  const refusal = {
    what,
    code: 'layer.config',
    details: { layer: name },
    fix: ' Pass it as .use(layer, config).',
  } as const
  return { name, spec, config: checkSchema(spec.config as StandardSchemaV1 | undefined, config, refusal) }
}

/**
 * Rejects unknown keys, because they would silently have no effect. Classes may have fields of their own. A layer may also have
 * public functions, such as `head()` of an audit, unless the name is close to that of a hook.
 */
function checkKeys(name: string, given: object, known: readonly string[], where = ''): void {
  const strange =
    isPlainObject(given) && Object.keys(given).find((key) => !known.includes(key) && (where || !isOwn(given, key)))
  if (strange)
    throw invalid(
      `The layer "${name}" has ${where}the unknown key "${strange}". ${unknownName(stem(strange), known)}`,
      { layer: name },
    )
}

function isOwn(given: object, key: string): boolean {
  return typeof (given as Record<string, unknown>)[key] === 'function' && !isNear(stem(key), scopeNames)
}

/** Returns the scope in a hook name of another framework, such as `beforeModel`, `wrapToolCall` or `onTurn`. */
const stem = (key: string) => key.replace(/^(on|before|after|wrap)|Call$/g, '')

function invalid(message: string, details?: { layer: string }, code: ErrorCode = 'layer.invalid'): AlliumError {
  return new AlliumError(code, message, { details })
}

const orderKeys: (keyof LayerOrder)[] = ['is', 'scopes', 'inside', 'outside']
type LayerKey = keyof AnyMiddleware
const fields: LayerKey[] = ['name', 'state', 'config', 'tools', 'provides', 'requires', 'order', 'options']
const behavior: LayerKey[] = ['innermost', 'reenters', 'inherit', 'guards', 'admits', 'display', 'wrapHooks', 'loose']
const layerKeys: readonly LayerKey[] = [...scopeNames, ...fields, ...behavior]
