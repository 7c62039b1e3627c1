import type { Message, ModelResponse } from '@allium/core'
import { deniedResult, type ModelRef, modelId, silence, type ToolDef, type ToolResult } from '@allium/core'
import type { AnyContext } from './combine.ts'
import { copyOf } from './copy.ts'
import { answerOf } from './fork-call.ts'

type Fields = Record<string, unknown>

/** What a layer has decided of its call. */
export interface Decided {
  decision: 'deny' | 'suspend' | 'skip'
  value: ModelResponse | ToolResult
  reason?: string
}

/** Where the verbs of a fork leave what they would have done. */
interface Notes {
  readonly own: Map<string, unknown>
  note(what: string): void
  set(key: string, value: unknown): boolean
  provide(name: string, value: unknown): void
  provided(name: string): { value: unknown } | undefined
  once(key: string, fn: () => unknown): unknown
}

/** Verbs that would reach what is outside of the call. */
export function effectVerbs(real: AnyContext, notes: Notes): Fields {
  return {
    on: (name: never, listener: (event: never) => unknown) =>
      real.on(name, (event) => quietly(() => listener(copyOf(event) as never))),
    registerTool: (tool: { name?: string }) => notes.note(`tool ${tool?.name}`),
    provide: ({ name }: { name: string }, value: unknown) => {
      notes.provide(name, value)
      notes.note(`capability ${name}`)
    },
    inject: (capability: { name: string }) => {
      const own = notes.provided(capability.name)
      return own === undefined ? real.inject(capability) : own.value
    },
    emit: (event: { type?: string }) => notes.note(`event ${event?.type}`),
    defer: (promise: PromiseLike<unknown>) => {
      silence(Promise.resolve(promise))
      notes.note('defer')
    },
    once: (key: string, fn: () => unknown) => notes.once(`${real.callId ?? ''}:${key}`, fn),
  }
}

/** Verbs that change the fields of the call. */
export function fieldVerbs({ own, set }: Notes): Fields {
  const list = <T>(key: string) => own.get(key) as T[]
  return {
    setModel: (model: ModelRef) => set('model', modelId(model)),
    addSystemMessage: (text: string) => {
      const messages = list<Message>('messages')
      const at = messages.findIndex(({ role }) => role !== 'system')
      messages.splice(at < 0 ? messages.length : at, 0, { role: 'system', content: text })
    },
    addMessage: (message: Message) => void list<Message>('messages').push(message),
    removeTools: (...names: string[]) => {
      const kept = list<ToolDef>('toolDefs').filter(({ name }) => !names.includes(name))
      own.set('toolDefs', kept)
    },
    modifyArgs: (args: Fields | ((old: Fields) => Fields)) => {
      const old = own.get('args') as Fields
      own.set('args', typeof args === 'function' ? args(old) : { ...old, ...args })
    },
  }
}

/** Verbs that answer the call. */
export function decisionVerbs(
  real: AnyContext,
  layer: string,
  decide: (decision: Decided['decision'], value: Decided['value'], reason?: string) => unknown,
): Fields {
  const { callId = '' } = real
  return {
    skipCall: (given: unknown) => decide('skip', answerOf(real, layer, given)),
    deny: (reason: string) => decide('deny', deniedResult(callId, reason), reason),
    suspend: () => decide('suspend', { callId, content: 'Waiting for a decision.', status: 'suspended' }),
  }
}

function quietly(work: () => unknown): void {
  try {
    silence(Promise.resolve(work()))
  } catch {
    // a shadow's own
  }
}
