import type { StandardSchemaV1 } from '@standard-schema/spec'
import { describe } from '../../errors/describe.ts'
import { cloneJson } from '../../messages/json.ts'
import type { ToolCall as CallOfModel } from '../../model/response.ts'
import { type Ending, Passage } from '../../onion/hook.ts'
import { layerError } from '../../onion/misuse.ts'
import { type Frame, Phase } from '../../onion/next.ts'
import type { Inner, SuspendedCall, SuspendRequest } from '../../state/snapshot.ts'
import type { Approval, Decision } from '../../tool/approval.ts'
import type { RegisteredTool } from '../../tool/registry.ts'
import { deniedResult, type ToolResult, type ToolResultInput, type ToolStatus } from '../../tool/tool-result.ts'
import type { TurnScope } from '../turn/turn-scope.ts'
import { ToolView } from './context.ts'

type Args = Record<string, unknown>

/** A call that a tool of the agent answers. */
export interface AskedCall {
  readonly call: CallOfModel
  /** Its place among the calls of its answer. */
  readonly index: number
  /** Why the arguments are no JSON object, or not whole. */
  readonly problem: string | undefined
  readonly approval: Approval | undefined
  /** How it waited, where the run resumes. */
  readonly waited: SuspendedCall | undefined
  /** What was decided of the calls of a sub-agent that waits inside. */
  readonly inner?: Record<string, Decision> | undefined
}

/** How a call waits that a layer, or the tool itself, has suspended. */
export interface Waiting {
  readonly request: SuspendRequest
  /** The arguments where it stood. */
  readonly args: Args
  readonly layer: string | undefined
  readonly inner: Inner | undefined
}

interface ToolFields {
  readonly args: Args
  /** The result of a layer that skips the call; it is that layer's own. */
  readonly skip: { readonly frame: Frame; readonly result: ToolResult } | undefined
}

/** One execution of one tool. */
export class ToolCall extends Passage {
  override readonly reentrant = true
  attempt = 1
  fields: ToolFields
  approved = false
  /** Sticks: nothing undoes it. */
  denied: ToolResult | undefined
  /** The result of a call that waits for a human. Sticks, but a deny beats it. */
  suspended: ToolResult | undefined
  /** How it waits; no layer sees it, for what a sub-agent waits with is in it. */
  waiting: Waiting | undefined
  /** A layer changed the arguments since they were checked. */
  changed = false
  /** The arguments for which the layer that had suspended the call looked at its approval. */
  consulted: Args | undefined
  live: ((reason: unknown) => void) | undefined
  #owner: Frame | undefined
  readonly #execute: (call: ToolCall) => unknown

  constructor(
    readonly turn: TurnScope,
    readonly asked: AskedCall,
    args: Args,
    /** Why the arguments are refused, if they are. */
    public invalid: readonly StandardSchemaV1.Issue[] | undefined,
    readonly registered: RegisteredTool | undefined,
    /** What the schema made of the arguments. */
    readonly parsed: unknown,
    execute: (call: ToolCall) => unknown,
  ) {
    super('tool', turn.options.onion.tool, turn.inside)
    this.fields = { args, skip: undefined }
    this.#execute = execute
  }

  get callId(): string {
    return this.asked.call.callId
  }
  get name(): string {
    return this.asked.call.name
  }

  /** The arguments as a layer sees them: its own copy, so that a re-entry finds them as they were. */
  argsOf(frame: Frame): Args {
    if (this.#owner !== frame) this.change(frame, { args: cloneJson(this.fields.args) })
    return this.fields.args
  }
  setArgs(frame: Frame, args: Args): void {
    if (typeof args !== 'object' || args === null || Array.isArray(args))
      throw layerError(frame, 'layer.result', `gave ${describe(args)} as arguments. They are an object.`)
    this.change(frame, { args })
    this.#owner = frame
  }
  change(frame: Frame, change: Partial<ToolFields>): void {
    if (!frame.alive) return
    this.changed = true
    this.#owner = change.args === undefined ? this.#owner : frame
    this.fields = { ...this.fields, ...change }
  }
  approvalFor({ hook }: Frame): Approval | undefined {
    const { approval, waited } = this.asked
    if (waited?.layer === hook.name) this.consulted ??= cloneJson(this.fields.args)
    return approval
  }
  deny(reason: string): ToolResult {
    this.denied ??= deniedResult(this.callId, reason)
    return this.denied
  }
  /** Ends the run with this call waiting, unless it is denied. */
  suspend(frame: Frame, request: SuspendRequest, layer?: string, inner?: Inner): ToolResult {
    const result: ToolResult = { callId: this.callId, content: 'Waiting for a decision.', status: 'suspended' }
    if (frame.alive && this.suspended === undefined) {
      this.suspended = result
      this.waiting = { request: cloneJson(request), args: cloneJson(this.fields.args), layer, inner }
    }
    return this.denied ?? this.suspended ?? result
  }
  skip(frame: Frame, given: ToolResultInput): ToolResult {
    const result = this.toResult(frame, given, 'skipped')
    this.change(frame, { skip: { frame, result } })
    return result
  }

  override ending(): Ending | undefined {
    return this.turn.end
  }
  override decided(frame: Frame): ToolResult | undefined {
    this.#heed(frame)
    return this.denied ?? this.suspended ?? (this.fields.skip?.frame === frame ? this.fields.skip.result : undefined)
  }
  view(frame: Frame): object {
    return new ToolView(frame)
  }
  core(): unknown {
    return this.#execute(this)
  }
  override entering(frame: Frame): void {
    frame.saved = this.fields
    this.#owner = undefined
  }
  override reentering(frame: Frame): void {
    this.attempt++
    frame.saved = this.fields = { args: this.fields.args, skip: undefined }
    this.#owner = undefined
  }
  override arrived(frame: Frame, value: unknown): unknown {
    if (frame.hook.reenters) this.missed(frame)
    return value
  }
  override missed(frame: Frame): void {
    this.fields = frame.saved as ToolFields
    this.#owner = undefined
  }
  override close(): void {
    this.live?.(undefined)
  }
  leaving(frame: Frame, value: unknown): ToolResult {
    this.#heed(frame)
    if (this.denied !== undefined) return this.denied
    if (this.suspended !== undefined) return this.suspended
    if (value !== undefined) return this.toResult(frame, value, frame.phase === Phase.done ? 'ok' : 'skipped')
    const skipped = this.decided(frame)
    if (skipped !== undefined) return skipped
    const mend = 'Return what next() gave, "ctx.skipCall(result)" or "ctx.deny(reason)".'
    throw layerError(frame, 'layer.no_result', `returned nothing. ${mend}`)
  }

  /** A human's refusal takes effect where the call was suspended, so that the layers outside see it as any other deny. */
  #heed({ hook }: Frame): void {
    const { approval, waited } = this.asked
    if (approval !== undefined && 'deny' in approval && waited?.layer === hook.name) this.deny(approval.deny)
  }

  /** A whole result of what a layer gave: a text, content, or what next() gave. */
  toResult(frame: Frame, given: unknown, status: ToolStatus): ToolResult {
    if (typeof given === 'string') return { callId: this.callId, content: given, status }
    const { content, isError, callId, status: own } = (given ?? {}) as Partial<ToolResult>
    if (typeof content !== 'string' && !Array.isArray(content)) {
      const what = `gave ${describe(given)} without content as its result. Give a text or { content, isError? }.`
      throw layerError(frame, 'layer.result', what)
    }
    if (callId === this.callId && own !== undefined) return given as ToolResult
    return { ...(given as ToolResult), callId: this.callId, status: isError === true ? 'error' : status }
  }
}
