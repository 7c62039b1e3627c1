import { AgentAttempt, type AgentCall, layerOf } from '../agent/scope/context.ts'
import type { ModelContext } from '../contexts/model.ts'
import type { ToolContext } from '../contexts/tool.ts'
import { after } from '../errors/thenable.ts'
import { cloneJson, equalJson } from '../messages/json.ts'
import type { ContentChunk } from '../model/chunk.ts'
import type { ModelResponse } from '../model/response.ts'
import { ModelAttempt } from '../model/scope/context.ts'
import type { Attempt, Call, Ending, Ring } from '../onion/attempt.ts'
import type { Hook, Next } from '../onion/hook.ts'
import { enter } from '../onion/next.ts'
import { outcomeOf, succeed, whenDone } from '../onion/outcome.ts'
import { SessionAttempt } from '../session/scope/context.ts'
import { streamedAs, wholeResponse } from '../stream/streamed.ts'
import type { StreamVerbs } from '../stream/transforms.ts'
import { pushAll, type Sink } from '../stream/transforms.ts'
import { ToolAttempt } from '../tool/scope/context.ts'
import { TurnAttempt } from '../turn/context.ts'
import { openStage } from '../turn/stream-verbs.ts'
import type { ToolCall } from '../turn/tool-call.ts'

export interface ForkOptions {
  /** The layer's hook. Gets the attempt as its context. */
  run(ctx: AgentAttempt, next: Next): unknown
  /** Returns the value of next(); for a turn, the text of its answer. Called for each next(). */
  inside(): Promise<unknown>
  /** Called instead of a verb that would reach the run. Not called for those of `own`. */
  reached(verb: string): void
}

/**
 * A separate attempt of the same call, for trying out a layer. It is never committed: its fields are copied on write,
 * its stream goes nowhere, and a denial, suspension or skip stays in it. The rules of next() apply. Late verbs are not
 * reported.
 * Only the members of its context listed in `own` stay inside, and verbs that would reach the run only call `reached`.
 * Others reach it (state, history, emit, and members added later). The caller has to keep the layer from using them.
 */
export class Fork {
  readonly ctx: AgentAttempt
  /** The fields and verbs of `ctx` that affect only the fork. */
  readonly own: ReadonlySet<PropertyKey>
  /** An object that identifies the session of the layer. The same object each time. */
  readonly session: object | undefined
  /** How often the layer has called next(). */
  entered = 0
  readonly #call: AgentCall & { end: Ending | undefined }
  readonly #before: Record<string, unknown>

  /** @throws AlliumError `layer.invalid` unless `real` is the context of a layer */
  constructor(ctx: object, { run, inside, reached }: ForkOptions) {
    const real = layerOf<AgentAttempt>('Fork', ctx, AgentAttempt)
    const { ring } = real.$call
    const hook = { ...(real.$hook as Hook), run: run as Hook['run'] }
    const core = (attempt: Attempt) => {
      this.entered++
      whenDone(attempt, give(attempt, inside), (value) => succeed(attempt, value))
    }
    this.#call = callLike(real.$call, {
      ...{ hooks: [hook], outer: undefined, end: undefined, ...deaf },
      ring: { ...(ring.reentrant ? ring : open(ring)), ...nothingReal, run: core },
      late: (_: Attempt, verb: string) => reached(verb),
    })
    this.ctx = ring.create(this.#call, undefined, real.$number, real.$cancel)
    this.ctx.$sink = nowhere
    this.ctx.$real = real
    this.#before = this.#begin(real)
    this.own = owned[ring.scope as 'model'] ?? none
    this.session = real instanceof SessionAttempt ? real.$owner : undefined
  }

  /** Runs the layer. Resolves with its result, or rejects with its error or that of a broken rule. */
  async run(): Promise<unknown> {
    enter(this.ctx)
    return outcomeOf(this.ctx)
  }

  /** Ends the fork like an abort or a block ends a run. If the layer swallows the error, its next() still rejects. */
  end(error: unknown): never {
    this.#call.end ??= { error }
    throw this.#call.end.error
  }

  /** The layer's decision on the call. */
  get shortCircuit(): 'deny' | 'suspend' | 'skip' | undefined {
    const { denied, suspended } = this.#call as Partial<ToolCall>
    if (denied !== undefined) return 'deny'
    if (suspended !== undefined) return 'suspend'
    const { ctx } = this
    const skips = (ctx instanceof ToolAttempt || ctx instanceof ModelAttempt) && ctx.$skip !== undefined
    return skips ? 'skip' : undefined
  }

  /** The names of the fields that the layer changed. */
  get changed(): string[] {
    const now = fieldsOf(this.ctx)
    return Object.keys(this.#before).filter((key) => !equalJson(this.#before[key], now[key]))
  }

  /** Copies the fields of the call. Only the messages are shared, and they are frozen. */
  #begin(real: AgentAttempt): Record<string, unknown> {
    const { ctx } = this
    if (real instanceof ModelAttempt && ctx instanceof ModelAttempt) {
      const { messages: _, model, ...rest } = real.$fields
      ctx.$fields = { ...cloneJson(rest), model, messages: real.$messages() }
      return { ...real.$fields, messages: ctx.$fields.messages }
    }
    if (real instanceof ToolAttempt && ctx instanceof ToolAttempt) {
      ctx.$fields = cloneJson(real.$fields)
      Object.assign(this.#call, { requested: cloneJson(real.$call.requested) })
    } else if (real instanceof TurnAttempt) Object.defineProperty(ctx, '$turn', { value: real.$turn })
    return fieldsOf(real)
  }
}

/** Returns a copy of the call with other fields. */
function callLike<C extends Call>(call: C, fields: object): C & { end: Ending | undefined } {
  const copy = Object.assign(Object.create(call) as object, call)
  return Object.defineProperties(copy, descriptorsOf(fields)) as C & { end: Ending | undefined }
}

/** Returns a ring for a scope that is entered once. It ignores the results of its layers. */
function open({ scope, create }: Ring): Ring {
  return {
    scope,
    create,
    reentrant: false,
    ...nothingReal,
    enter(caller, inner) {
      inner.$sink = openStage(caller, nowhere, false)
    },
    toResult: () => undefined,
    deliver({ $stage: stage }, _, value) {
      if (stage === undefined || value === null) return value
      return after(stage.end({ error: undefined }), () => stage.assembly.text)
    },
  }
}

/** Runs `inside` and streams its content all at once. */
async function give(core: Attempt, inside: () => Promise<unknown>): Promise<unknown> {
  const value = await inside()
  await pushAll(core.$sink ?? nowhere, chunksOf(core, value))
  if (core instanceof ModelAttempt) core.$streamed = streamedAs(value as ModelResponse)
  return value
}

function chunksOf(core: Attempt, value: unknown): readonly ContentChunk[] {
  if (core instanceof ModelAttempt) return wholeResponse(value as ModelResponse)
  return typeof value === 'string' && value !== '' ? [{ type: 'text-delta', delta: value }] : []
}

/** Returns the fields of a call that a layer may change. */
function fieldsOf(attempt: Attempt): Record<string, unknown> {
  if (attempt instanceof ToolAttempt) return { args: attempt.$fields.args }
  return attempt instanceof ModelAttempt ? { ...attempt.$fields } : {}
}

function descriptorsOf(values: object): PropertyDescriptorMap {
  const entries = Object.entries(values).map(([key, value]) => [key, { value, writable: true }])
  return Object.fromEntries(entries) as PropertyDescriptorMap
}

type OfModel = keyof ModelContext
const streamVerbs: (keyof StreamVerbs)[] = ['onChunk', 'pipe', 'hold']
const modelFields: OfModel[] = ['messages', 'request', 'model', 'settings', 'toolDefs', 'toolChoice', 'responseFormat']
const modelVerbs: OfModel[] = ['setModel', 'addSystemMessage', 'addMessage', 'removeTools', 'skipCall']
const ofTool: (keyof ToolContext)[] = ['args', 'invalid', 'approval', 'modifyArgs', 'suspend', 'deny', 'skipCall']
const none: ReadonlySet<PropertyKey> = new Set(streamVerbs)
const owned: Partial<Record<string, ReadonlySet<PropertyKey>>> = {
  model: new Set([...modelFields, ...modelVerbs, ...streamVerbs]),
  tool: new Set([...ofTool, ...streamVerbs]),
}
const nowhere: Sink = { push() {}, reset() {}, used: false, open: true }
const deaf = { settled() {}, abandoned() {}, returned() {} }
const nothingReal = { mayRetry: () => undefined, rollback() {}, cancel() {}, run() {} }
