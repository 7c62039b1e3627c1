import type { HookContexts, HookName, LoopContext } from '../contexts.ts'

const hookFields = ['request', 'chunk', 'toolCall', 'result', 'phase'] as const
/** All fields that a request may have. */
export const requestFields: readonly string[] = ['hook', 'loop', ...hookFields, 'error']

/** Returns the JSON that a shell hook receives on stdin: the hook's name, the loop, and the hook's own fields. */
export function toRequest<Name extends HookName>(hook: Name, ctx: HookContexts[Name]): string {
  const fields: Record<string, unknown> = {
    hook,
    loop: loopFields('loop' in ctx ? (ctx.loop as LoopContext) : (ctx as LoopContext)),
  }
  for (const name of hookFields) if (name in ctx) fields[name] = ctx[name as keyof typeof ctx]
  if ('error' in ctx) fields.error = { name: ctx.error.name, message: ctx.error.message }
  return JSON.stringify(fields, sendable)
}

function loopFields({ iteration, maxIterations, sessionId, usage, resumed, messages }: LoopContext) {
  return { iteration, maxIterations, sessionId, usage, resumed, messages }
}

/** Serializes bytes as base64, which a message accepts as well. */
function sendable(_key: string, value: unknown): unknown {
  if (value instanceof Uint8Array)
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')
  // toJSON() has converted a Buffer to { type: 'Buffer', data }.
  const { type, data } = (value ?? {}) as { type?: unknown; data?: unknown }
  return type === 'Buffer' && Array.isArray(data) ? Buffer.from(data as number[]).toString('base64') : value
}
