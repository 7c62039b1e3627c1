import type { AnyMiddleware, Capability, Middleware, ModelResponse, ScopeName, ToolResult } from '@allium/core'

const scopes: readonly ScopeName[] = ['agent', 'session', 'turn', 'model', 'tool']

/** Returns the layer with only one hook; `this` in the hook stays the layer. */
export function isolate(layer: AnyMiddleware, scope: ScopeName): Middleware {
  const hook = layer[scope] as unknown
  const otherScopes = Object.fromEntries(scopes.map((other) => [other, undefined]))
  const isolated = { name: layer.name, ...otherScopes, [scope]: typeof hook === 'function' ? hook.bind(layer) : hook }
  // Of the same class, because only plain objects are checked for unknown keys.
  return Object.assign(Object.create(Object.getPrototypeOf(layer) as object), layer, isolated)
}

/** The outermost layer. It records the hook's result, and provides what the hook injects. */
export function probe(
  replacement: { response?: ModelResponse; toolResult?: ToolResult },
  provide: readonly (readonly [Capability<unknown>, unknown])[],
): Middleware {
  return {
    name: 'test:probe',
    provides: provide.map(([capability]) => capability),
    async agent(ctx, next) {
      for (const [capability, value] of provide) ctx.provide(capability, value)
      await next()
    },
    async model(_, next) {
      replacement.response = await next()
      return replacement.response
    },
    async tool(_, next) {
      replacement.toolResult = await next()
      return replacement.toolResult
    },
  }
}
