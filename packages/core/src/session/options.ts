import { AlliumError } from '../errors/allium-error.ts'
import { describe, isPrintable } from '../errors/describe.ts'
import { checkOptions, type KeysOf } from '../errors/known-options.ts'
import type { Usable } from '../middleware/middleware.ts'
import { checkSettings, type ModelRef, type Settings, settingsElsewhere, type ToolDef } from '../model/model.ts'
import type { OutputOption } from '../output/output.ts'
import type { Journal } from '../seams/journal.ts'
import type { RegisteredContext, RegisteredPrincipal } from '../seams/register.ts'
import type { ToolExecution } from '../tool/tool.ts'

export interface SessionOptions<C = RegisteredContext, P = RegisteredPrincipal> {
  /** @default a new random id */
  id?: string | undefined
  /** Who acts: tenant, user, roles. Checked by the agent's `principal` schema. */
  principal?: P | undefined
  /** The application's runtime context. Checked by the agent's `context` schema. */
  context?: C | undefined
  /** The session's scratch record. */
  metadata?: Record<string, unknown> | undefined
  /** What a run does while another one is under way: fail with `session.busy`, or wait. @default the agent's */
  busy?: 'reject' | 'queue' | undefined
  /**
   * The context of the tool that runs this session as a sub-agent's: principal and context default to its own, layers with
   * `inherit` stand around this agent's, usage adds up, events go into its run with a `path`. `delegate()` sets it.
   */
  parent?: ToolExecution | undefined
}

export interface RunOptions<C = RegisteredContext, O extends OutputOption | undefined = undefined> {
  /** Aborts the run. */
  signal?: AbortSignal | undefined
  /** The runtime context of this run. @default the session's */
  context?: C | undefined
  model?: ModelRef | undefined
  /** Merged over the agent's. */
  settings?: Settings | undefined
  /** Layers for this run, inside the agent's own: turn, model and tool hooks, no state. */
  use?: readonly Usable[] | undefined
  /** What the answer must be, as a schema: types and checks `result.output`. */
  output?: O | undefined
  maxSteps?: number | undefined
  /**
   * Tools that whoever began the run executes: such a call passes the layers, then waits, and goes on with
   * `resume({ [callId]: { result } })`. @default those of the run that it resumes
   */
  clientTools?: readonly ToolDef[] | undefined
  /**
   * Whether another attempt of a model call may take back, with `model:reset`, chunks that have reached the reader. With
   * `refuse` its next() rejects with `stream.reset`. @default 'allow'
   */
  resets?: 'allow' | 'refuse' | undefined
  /** Milliseconds that the provider waits for a reader who takes nothing more. @default the agent's */
  readerSilence?: number | false | undefined
  /** A repeated run with the same key gives the run that it first started; with another input it is `run.key_reused`. */
  idempotencyKey?: string | undefined
  /**
   * The id of its turn: a run that was cut off is started again under its own. One that is stored as ended is answered from the
   * store. A text of 1 to 512 characters. @default made of the session's id
   */
  turnId?: string | undefined
  /** What keeps its steps, so that they are not done again where it is started again; sub-agents have it, too. @default the agent's */
  journal?: Journal | undefined
  /** Gets a promise of the run's whole completion, deferred work included, for hosts that stop early. */
  waitUntil?(completion: Promise<unknown>): void
}

/** What a run that resumes takes besides. */
export interface ResumeOptions<C = RegisteredContext, O extends OutputOption | undefined = undefined>
  extends RunOptions<C, O> {
  /** Who decides: a principal with a user, as your server has verified it. @default the principal of the session */
  decider?: RegisteredPrincipal
}

/** Options of `session.fork()`. */
export interface ForkSessionOptions {
  /** A turn that has ended. @default what there is now */
  at?: string | undefined
  /** The new session's id. @default a new random id */
  id?: string | undefined
}

const ofSession: KeysOf<SessionOptions> = {
  id: true,
  principal: true,
  context: true,
  metadata: true,
  busy: true,
  parent: true,
}
const ofRun: KeysOf<RunOptions> = {
  signal: true,
  context: true,
  model: true,
  settings: true,
  use: true,
  output: true,
  maxSteps: true,
  clientTools: true,
  resets: true,
  readerSilence: true,
  idempotencyKey: true,
  turnId: true,
  journal: true,
  waitUntil: true,
}
const ofResume: KeysOf<ResumeOptions> = { ...ofRun, decider: true }
const ofFork = { at: true, id: true } satisfies KeysOf<ForkSessionOptions>
const ofRewind = { to: true } as const
const elsewhere = {
  'id principal metadata busy session':
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
  // Its name in events and contexts: with another `id`, or none, it would be lost.
  const known = sessionId !== undefined && sessionId === id ? { ...ofSession, sessionId: true as const } : ofSession
  checkOptions(options, known, 'A session', 'run.options', beside)
}
/** @throws AlliumError `run.options` */
export function checkRunOptions(options: object, resumes = false): void {
  checkOptions(options, resumes ? ofResume : ofRun, 'A run', 'run.options', elsewhere)
  const { turnId, journal, settings } = options as {
    turnId?: unknown
    journal?: { step?: unknown }
    settings?: unknown
  }
  checkSettings(settings, 'The option settings', 'run.options')
  if (turnId !== undefined && !isTurnId(turnId))
    throw new AlliumError(
      'run.options',
      `The option turnId takes 1 to 512 characters without control characters or lone surrogates, not ${describe(turnId)}.`,
    )
  if (journal !== undefined && typeof journal?.step !== 'function')
    throw new AlliumError(
      'run.options',
      `The option journal is a Journal, { step }, but ${describe(journal)} was given.`,
    )
}

/** @throws AlliumError `run.options` */
export function checkForkOptions(options: unknown): void {
  checkOptions(options, ofFork, 'fork()', 'run.options', { 'to turnId': 'The turn is given as { at }.' })
}
/** @throws AlliumError `run.options` */
export function checkRewindOptions(options: unknown): void {
  checkOptions(options, ofRewind, 'rewind()', 'run.options', { 'at turnId': 'The turn is given as { to }.' })
}

/** Turn ids go into keys of stores, too. */
function isTurnId(given: unknown): boolean {
  return typeof given === 'string' && given.length > 0 && given.length <= 512 && isPrintable(given)
}
