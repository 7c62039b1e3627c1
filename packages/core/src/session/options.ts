import { AlliumError } from '../errors/allium-error.ts'
import { describe, isPrintable } from '../errors/describe.ts'
import { checkOptions, keysOf } from '../errors/known-options.ts'
import type { Input } from '../messages/message.ts'
import type { Usable } from '../middleware/middleware.ts'
import { checkSettings, type ModelRef, type Settings, settingsElsewhere, type ToolDef } from '../model/model.ts'
import type { OutputOption } from '../output/option.ts'
import type { Clock } from '../ports/clock.ts'
import type { Journal } from '../ports/journal.ts'
import type { RegisteredContext, RegisteredPrincipal } from '../ports/register.ts'
import type { ToolExecution } from '../tool/tool.ts'

export interface SessionOptions<C = RegisteredContext, P = RegisteredPrincipal> {
  /** @default a new random id */
  id?: string | undefined
  /** The acting principal: tenant, user, roles. Checked by the agent's `principal` schema. */
  principal?: P | undefined
  /** The application's runtime context. Checked by the agent's `context` schema. */
  context?: C | undefined
  /** A record for arbitrary data, for the lifetime of the session. */
  metadata?: Record<string, unknown> | undefined
  /** What a run does while another one is running: reject with `session.busy`, or wait. @default the agent's */
  onBusy?: 'reject' | 'queue' | undefined
  /**
   * The context of the tool that runs this session as a sub-agent's. Principal and context default to the tool's.
   * Layers with `inherit` wrap this agent's layers, usage is added up, and events go to the parent run with a `path`.
   * `delegate()` sets it.
   */
  parent?: ToolExecution | undefined
}

export interface RunOptions<C = RegisteredContext, O extends OutputOption | undefined = undefined> {
  /** Aborts the run. */
  signal?: AbortSignal | undefined
  /** The runtime context of this run. @default the session's */
  context?: C | undefined
  model?: ModelRef | undefined
  /** Model settings for this run, merged over the agent's. */
  settings?: Settings | undefined
  /** Layers for this run, inside the agent's own. They may have turn, model and tool hooks, but no state. */
  use?: readonly Usable[] | undefined
  /** The schema of the answer. It types and validates `result.output`. */
  output?: O | undefined
  maxSteps?: number | undefined
  /**
   * Tools that the client runs. A call of one passes through the layers and is then suspended, until
   * `resume({ [callId]: { result } })`. @default those of the run that it resumes
   */
  clientTools?: readonly ToolDef[] | undefined
  /**
   * Whether a retry of a model call may take back chunks that have reached the reader, with `model:reset`. With
   * `fail`, next() rejects with `stream.reset`. @default 'reset'
   */
  onRetryAfterOutput?: 'reset' | 'fail' | undefined
  /**
   * How long the run pauses when its reader stops reading, in milliseconds. After that the run continues and buffers
   * its events. @default the agent's
   */
  readerTimeout?: number | false | undefined
  /** A repeated run with the same key returns the first run. With a different input it rejects with `run.key_reused`. */
  idempotencyKey?: string | undefined
  /**
   * The id of the turn. Use the same id to restart a run that was cut off. If the store has the ended run, it is
   * returned from there. A text of 1 to 512 characters. @default derived from the session's id
   */
  turnId?: string | undefined
  /** Records the steps of the run, so that a restart does not repeat them. Sub-agents use it too. @default the agent's */
  journal?: Journal | undefined
  /** The clock of the run and its sub-agents. Approvals expire by the agent's clock. @default the agent's */
  clock?: Clock | undefined
  /** Gets a promise of the run's completion, including deferred work, for hosts that may stop the process early. */
  waitUntil?(completion: Promise<unknown>): void
}

/** Options for a run that resumes. */
export interface ResumeOptions<C = RegisteredContext, O extends OutputOption | undefined = undefined>
  extends RunOptions<C, O> {
  /** The approver: a principal with a user, as verified by your server. @default the principal of the session */
  approver?: RegisteredPrincipal
}

/** Options of `session.fork()`. */
export interface ForkSessionOptions {
  /** A turn that has ended. @default the current state */
  at?: string | undefined
  /** The new session's id. @default a new random id */
  id?: string | undefined
}

const ofSession = /* @__PURE__ */ keysOf<SessionOptions>()('id principal context metadata onBusy parent')
const ofRun = /* @__PURE__ */ keysOf<RunOptions>()(
  'signal context model settings use output maxSteps clientTools onRetryAfterOutput readerTimeout idempotencyKey turnId journal clock waitUntil',
)
const elsewhere = {
  'id principal metadata onBusy session':
    'It belongs to the session: agent.session({ … }), or agent.run(input, { session: { … } }).',
  'instructions tools approvals system': 'It belongs to the agent: new Agent({ … }).',
  'prompt messages input': 'The input comes first: run(input, options).',
  timeout: 'Add a layer: agent.use(guard.timeout({ … })), or give signal: AbortSignal.timeout(ms).',
  ...settingsElsewhere,
}

const beside = { 'tenantId userId user': 'Give it as the principal: { principal: { userId, tenantId } }.' }

/** @throws AlliumError `run.options` */
export function checkSessionOptions(options: object): void {
  const { id, sessionId } = (options ?? {}) as { id?: unknown; sessionId?: unknown }
  // In events and contexts the option is called `sessionId`. It is accepted only next to an equal `id`, because it
  // would be ignored otherwise.
  const known = sessionId !== undefined && sessionId === id ? { ...ofSession, sessionId: true as const } : ofSession
  checkOptions(options, known, 'A session', 'run.options', beside)
}
/** @throws AlliumError `run.options` */
export function checkRunOptions(options: object, resumes = false): void {
  const known = resumes ? { ...ofRun, approver: true as const } : ofRun
  checkOptions(options, known, 'A run', 'run.options', elsewhere)
  const { turnId, journal, settings } = options as RunOptions
  checkSettings(settings, 'The option settings', 'run.options')
  // Turn ids are also part of store keys.
  const isTurnId = typeof turnId === 'string' && turnId.length > 0 && turnId.length <= 512 && isPrintable(turnId)
  if (turnId !== undefined && !isTurnId)
    throw new AlliumError(
      'run.options',
      `The option turnId takes 1 to 512 characters without control characters or lone surrogates, not ${describe(turnId)}.`,
    )
  if (journal !== undefined && typeof journal?.step !== 'function')
    throw new AlliumError('run.options', `The option journal must be a Journal, { step }, not ${describe(journal)}.`)
}

/** The work of a run: an input to answer, or decisions to resume with. */
export interface Task<C> {
  readonly input: Input
  /** Undefined for a run that does not resume. */
  readonly decisions: unknown
  readonly options: ResumeOptions<C, OutputOption | undefined>
}
