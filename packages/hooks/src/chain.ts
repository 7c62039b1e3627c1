import { AlliumError } from '@allium/core'
import { isThenable, unknownName } from '@allium/core/internal'
import type { HookContext } from './hook-context.ts'
import type { Lifecycle } from './lifecycle.ts'

export { isThenable }

export type HookName = Exclude<keyof Lifecycle, 'getName'>

/** One hook of one object. */
export interface BoundHook {
  /** The object's name. */
  readonly name: string
  call(ctx: HookContext, info?: unknown): unknown
}

/** The hooks of several objects, by name, in the order of the objects. */
export type Chain = Readonly<Record<HookName, readonly BoundHook[]>>

/** Groups the hooks of objects by name. @throws AlliumError `layer.invalid` when a hook is not a function */
export function chainOf(objects: readonly { readonly name: string; readonly object: Lifecycle }[]): Chain {
  for (const { name, object } of objects) checkNames(name, object)
  const hooks = hookNames.map((hook) => [hook, objects.flatMap(({ name, object }) => bind(name, object, hook))])
  return Object.fromEntries(hooks) as Chain
}

/** Appends one chain to another. */
export function joinChains(first: Chain, second: Chain): Chain {
  return Object.fromEntries(hookNames.map((hook) => [hook, [...first[hook], ...second[hook]]])) as unknown as Chain
}

/** Runs hooks one after the other, and awaits only those that return a promise, so that ten synchronous hooks cost only ten calls. */
export function inTurn(
  hooks: readonly BoundHook[],
  ctx: HookContext,
  info?: unknown,
  from = 0,
): Promise<void> | undefined {
  for (let at = from; at < hooks.length; at++) {
    const result = hooks[at]?.call(ctx, info)
    if (isThenable(result)) return result.then(() => inTurn(hooks, ctx, info, at + 1)) as Promise<void>
  }
}

const names: Record<HookName, true> = {
  setup: true,
  onConfig: true,
  onBeforeModel: true,
  onStructuredOutputConfig: true,
  onStart: true,
  onIteration: true,
  onChunk: true,
  onBeforeToolCall: true,
  onAfterToolCall: true,
  onToolPhaseComplete: true,
  onUsage: true,
  onShouldContinue: true,
  onFinish: true,
  onAbort: true,
  onError: true,
}
export const hookNames = Object.keys(names) as readonly HookName[]

/** A class may have methods of its own, so only those that are named like a hook are mistakes. */
function checkNames(name: string, object: object): void {
  const own = [...Object.keys(object), ...Object.getOwnPropertyNames(Object.getPrototypeOf(object) ?? {})]
  const unknown = own.find((key) => /^on[A-Z]/.test(key) && !Object.hasOwn(names, key))
  if (unknown === undefined) return
  throw new AlliumError(
    'layer.invalid',
    `"${name}" has the unknown hook ${unknown}. ${unknownName(unknown, hookNames)}`,
    {
      details: { layer: name },
    },
  )
}

function bind(name: string, object: Lifecycle, hook: HookName): BoundHook[] {
  const result: unknown = object[hook]
  if (result === undefined || result === null) return []
  if (typeof result === 'function') return [{ name, call: result.bind(object) as BoundHook['call'] }]
  throw new AlliumError(
    'layer.invalid',
    `The hook ${hook} of "${name}" has the type ${typeof result}. Pass a function (ctx, …).`,
    { details: { layer: name } },
  )
}
