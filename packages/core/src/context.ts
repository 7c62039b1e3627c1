// Functions that take the context of a layer, for what few layers need. Only an import of this entry loads them.
import type { ModelContext, PhysicalCall } from './contexts/model.ts'
import type { SessionContext, SessionView } from './contexts/session.ts'
import type { ToolContext } from './contexts/tool.ts'
import type { TurnView } from './contexts/turn.ts'
import { AlliumError } from './errors/allium-error.ts'
import { describe } from './errors/describe.ts'
import { cloneJson } from './messages/json.ts'
import type { Identity, ToolCallPart } from './messages/message.ts'
import { toJson } from './messages/plain-json.ts'
import type { Model, ModelRef, ModelServer } from './model/model.ts'
import { layerError } from './onion/misuse.ts'
import type { AroundRun, AroundStep, FindTurn } from './ports/around.ts'
import { sealOf } from './ports/seal.ts'
import { tenantOf } from './ports/tenant.ts'
import type { AgentAttempt } from './scopes/agent/context.ts'
import { attemptOf } from './scopes/around.ts'
import { ModelAttempt } from './scopes/model/context.ts'
import { SessionAttempt } from './scopes/session/context.ts'
import { resolveModel as resolveFor } from './scopes/session/resolve-model.ts'
import type { Registered } from './scopes/session/session-scope.ts'
import { ToolAttempt } from './scopes/tool/context.ts'
import { TurnAttempt } from './scopes/turn/context.ts'
import { Display } from './scopes/turn/display.ts'
import { logRecord } from './scopes/turn/effect-log.ts'
import type { SuspendRequest } from './state/snapshot.ts'
import type { DisplayText } from './stream/transforms.ts'
import { checkArgs, formatIssues } from './tool/check-args.ts'
import type { ToolExecution } from './tool/tool.ts'

export type { InnerRun, InputAbout, OnceOptions, OnInput, TurnPlan } from './contexts/turn.ts'
export { inject } from './ports/capability.ts'
export type { DisplayText, PhysicalCall }

type InSession = SessionView<unknown, unknown, unknown, unknown>
type InTurn = TurnView<unknown, unknown, unknown, unknown>
type OfSession = SessionContext<unknown, unknown, unknown, unknown>
type OfModel = ModelContext<unknown, unknown, unknown, unknown>
type OfTool = ToolContext<unknown, unknown, unknown, unknown, unknown>

/** Returns whether the session was created without an id, so that no later session can continue it. */
export function isAnonymous(ctx: InSession): boolean {
  return attempt('isAnonymous', ctx, SessionAttempt).$owner.ownId
}

/** Returns the pending tool calls of the last answer. */
export function pendingCalls(ctx: InSession): readonly ToolCallPart[] {
  return cloneJson(attempt('pendingCalls', ctx, SessionAttempt).$session.history.pending())
}

/**
 * Wraps each run of the session, outside its turn: the wrapper stores the turn, holds a lease, or returns a stored turn.
 * The first layer's wrapper is the outermost. Call it before next().
 */
export function aroundRun(ctx: OfSession, wrapper: AroundRun): void {
  register('aroundRun', ctx, wrapper)
}

/** Wraps each step of a turn, for example to store a checkpoint. Call it before next(). */
export function aroundStep(ctx: OfSession, wrapper: AroundStep): void {
  register('aroundStep', ctx, wrapper)
}

/** Finds turns of other processes, for `fork()` and `rewind()`. Call it before next(). */
export function provideTurns(ctx: OfSession, find: FindTurn): void {
  register('provideTurns', ctx, find)
}

function register<V extends keyof Registered>(verb: V, ctx: OfSession, fn: Registered[V]): void {
  const layer = attempt(verb, ctx, SessionAttempt)
  layer.$checkOpening()
  if (layer.$isLate(verb)) return
  const { $session, $hook } = layer
  if (!$session.opening)
    throw layerError(layer, 'layer.invalid', `called ${verb}() too late. Call it in a session hook, before next().`)
  const registered = $session.registered as { [V in keyof Registered]?: unknown[] }
  // Errors name the layer.
  const named = Object.defineProperty(fn.bind(undefined), 'name', { value: layer.$name })
  registered[verb] ??= []
  registered[verb].push(named)
  $session.registered.isStored ||= $hook?.stores
}

/** Returns whether the turn resumes a suspended one. */
export function isResumed(ctx: InTurn): boolean {
  return attempt('isResumed', ctx, TurnAttempt).$turn.options.resume !== undefined
}

/** Returns whether a sub-agent inherited the layer and this call belongs to the sub-agent. */
export function isInherited(ctx: InTurn): boolean {
  return attempt('isInherited', ctx, TurnAttempt).$hook?.levelsUp !== undefined
}

/**
 * Returns the id of the turn's first run, which is the same across suspensions. In an inherited layer it is the id of
 * the parent's turn. Use it for counts per turn.
 */
export function rootTurnIdOf(ctx: InTurn): string {
  return attempt('rootTurnIdOf', ctx, TurnAttempt).$homeTurn.rootId
}

/**
 * Returns whether this part of the run is a replay: the run was cut off, and the journal returns the recorded steps.
 * Layers that log or count should skip it. An event at the very moment of the cut may be emitted in neither process, or
 * in both.
 */
export function isReplaying(ctx: InTurn | ToolExecution): boolean {
  const { $turn, $fork, $call } = attempt<TurnAttempt>('isReplaying', ctx, TurnAttempt)
  return $turn.steps?.isReplaying($fork?.real.$call ?? $call) ?? false
}

/** Sets the maximum number of steps of this turn. At the limit the turn stops with `max_steps`. */
export function setMaxSteps(ctx: InTurn, steps: number): void {
  const layer = attempt('setMaxSteps', ctx, TurnAttempt)
  if (!layer.$isLate('setMaxSteps')) layer.$turn.maxSteps = steps
}

/**
 * Stores data with the run. The record enters the store's outbox together with the run; a run that is not stored leaves
 * no record. Records of a sub-agent are stored with the run of its parent. Takes plain data, like `toJson`, and copies
 * it; bytes, dates and URLs are shared.
 *
 * @throws AlliumError `state.invalid` if the data cannot be stored
 */
export function record(ctx: InTurn, topic: string, data: unknown): void {
  const layer = attempt('record', ctx, TurnAttempt)
  if (layer.$isLate('record')) return
  const { $homeTurn, $effects } = layer
  const { ids, clock } = $homeTurn.session.agent.setup
  toJson(data)
  const stored = { id: ids(), topic, data: cloneJson(data), at: clock.now() }
  $homeTurn.storeRecord(stored)
  if ($effects !== undefined) logRecord($effects.session, $effects.levelsUp, stored)
}

/**
 * Maps the text that the run's own reader receives: text and reasoning of the stream, and the `text` of the result.
 * Layers, history, stores and observers keep the original. `make` is called once per text stream.
 */
export function onDisplay(ctx: InTurn, make: () => DisplayText): void {
  const layer = attempt('onDisplay', ctx, TurnAttempt)
  if (layer.$isLate('onDisplay')) return
  const { $turn } = layer
  $turn.display ??= new Display($turn.events)
  $turn.display.add(make)
}

/**
 * Resolves a model reference as the agent does, for a layer that calls a model itself.
 *
 * @throws AlliumError `model.unresolved`, `model.invalid`, `provider.*`
 */
export function resolveModel(ctx: InTurn, ref: ModelRef): Promise<Model> {
  return resolveFor(attempt('resolveModel', ctx, TurnAttempt).$session, ref)
}

/** Returns whether this attempt is a replay whose result is in the journal, so that no model is called. */
export function isRecorded(ctx: OfModel): boolean | PromiseLike<boolean> {
  const { $turn, callIndex, $number } = attempt('isRecorded', ctx, ModelAttempt)
  return $turn.steps?.isRecorded(`model:${callIndex}:${$number}`) ?? false
}

/** Returns the server of the last provider call, if its model reports one. */
export function serverOf(ctx: OfModel): ModelServer | undefined {
  return attempt('serverOf', ctx, ModelAttempt).$call.server
}

/**
 * Returns the provider calls made inside this layer's next(), with their usage. Includes calls of failed and abandoned
 * attempts. Meters count these, so that all of them agree.
 */
export function physicalCallsOf(ctx: OfModel): readonly PhysicalCall[] {
  const layer = attempt('physicalCallsOf', ctx, ModelAttempt)
  const made = layer.$call.physical.filter((call) => call.isInside(layer.$fork?.real ?? layer))
  return made.map(({ model, usage }) => ({ model, usage: { ...usage } }))
}

/** Returns the identity of the approver, if the run resumes with a decision on this call. */
export function approverOf(ctx: OfTool): Identity | undefined {
  return attempt('approverOf', ctx, ToolAttempt).$call.requested.approvalRecord?.by
}

/** An approval request, and the layer that made it. Without a layer, the tool itself did. */
export interface ApprovalRequest {
  readonly by: string | undefined
  readonly request: Readonly<SuspendRequest>
}

/** Returns the approval request of the call, if the run resumes with a decision on it. */
export function approvalRequestOf(ctx: OfTool | ToolExecution): ApprovalRequest | undefined {
  const { suspension } = attempt('approvalRequestOf', ctx, ToolAttempt).$call.requested
  return suspension === undefined ? undefined : { by: suspension.layer, request: cloneJson(suspension.request ?? {}) }
}

/**
 * Returns the recipients of a call with these arguments, as the tool's `flow.to` computes them from the parsed
 * arguments. Undefined if the tool declares none. Rejects if the arguments do not fit or `flow.to` throws.
 */
export async function recipientsOf(ctx: OfTool): Promise<unknown> {
  const { $call, $fields, $agent } = attempt('recipientsOf', ctx, ToolAttempt)
  const tool = $call.registered?.tool
  if (tool?.flow?.to === undefined) return undefined
  const checked = await checkArgs(tool, cloneJson($fields.args), $agent.setup.validate)
  if (checked.issues !== undefined) throw new AlliumError('tool.invalid', formatIssues(checked.issues))
  return tool.flow.to(checked.value as never)
}

/**
 * Returns a seal over a JSON-like value, for data that a layer stores in the state and trusts later, such as a
 * remembered approval. The seal is valid for this tenant and owner. It is signed with the agent's `approvals.secret`.
 * Without a secret it is a digest, which detects a change but not a forgery.
 */
export function seal(ctx: OfTool, value: unknown): Promise<string> {
  const { agent, owner, principal } = attempt('seal', ctx, ToolAttempt).$owner
  return sealOf(['kept', tenantOf(principal) ?? null, owner ?? null, value], agent.setup.approvals.secret)
}

/** @throws AlliumError `layer.invalid` if it is not the context of such a scope or of one inside it */
function attempt<A extends AgentAttempt>(by: string, ctx: object, scope: abstract new (...args: never[]) => A): A {
  const found = attemptOf(ctx, scope)
  if (found !== undefined) return found
  throw new AlliumError('layer.invalid', `${by}() takes the context of a layer in its scope, not ${describe(ctx)}.`)
}
