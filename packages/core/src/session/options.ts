import { AlliumError } from '../errors/allium-error.ts'
import { describe, isPrintable } from '../errors/describe.ts'
import { checkOptions } from '../errors/known-options.ts'
import type { Usable } from '../middleware/middleware.ts'
import type { ModelRef, Settings, ToolDef } from '../model/model.ts'
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

const ofSession: ReadonlySet<string> = new Set<keyof SessionOptions>([
  'id',
  'principal',
  'context',
  'metadata',
  'busy',
  'parent',
])
const ofRun: ReadonlySet<string> = new Set<keyof RunOptions>([
  'signal',
  'context',
  'model',
  'settings',
  'use',
  'output',
  'maxSteps',
  'clientTools',
  'resets',
  'readerSilence',
  'idempotencyKey',
  'turnId',
  'journal',
  'waitUntil',
])
const ofResume: ReadonlySet<string> = new Set([...ofRun, 'decider' satisfies keyof ResumeOptions])
const ofSessionAlone = Object.fromEntries(
  ['id', 'principal', 'metadata', 'busy', 'session'].map((name) => [
    name,
    'It belongs to the session: agent.session({ … }), or agent.run(input, { session: { … } }).',
  ]),
)

/** @throws AlliumError `run.options` */
export function checkSessionOptions(options: object): void {
  const { id, sessionId } = options as { id?: unknown; sessionId?: unknown }
  // Its name in events and contexts: with another `id`, or none, it would be lost.
  const known = sessionId !== undefined && sessionId === id ? new Set([...ofSession, 'sessionId']) : ofSession
  checkOptions(options, known, 'A session', 'run.options')
}
/** @throws AlliumError `run.options` */
export function checkRunOptions(options: object, resumes = false): void {
  checkOptions(options, resumes ? ofResume : ofRun, 'A run', 'run.options', ofSessionAlone)
  const { turnId, journal } = options as { turnId?: unknown; journal?: { step?: unknown } }
  if (turnId !== undefined && !isTurnId(turnId))
    throw new AlliumError(
      'run.options',
      `The option turnId is a text of 1 to 512 characters, without control characters or broken ones, but ${describe(turnId)} was given.`,
    )
  if (journal !== undefined && typeof journal?.step !== 'function')
    throw new AlliumError(
      'run.options',
      `The option journal is a Journal, { step }, but ${describe(journal)} was given.`,
    )
}

/** Turn ids go into keys of stores, too. */
function isTurnId(given: unknown): boolean {
  return typeof given === 'string' && given.length > 0 && given.length <= 512 && isPrintable(given)
}
