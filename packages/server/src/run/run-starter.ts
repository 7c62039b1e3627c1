import type { AgentRun, Decision, Logger, OutputOption, SessionKey, ToolDef } from '@allium/core'
import type { EventLog, SessionStore } from '@allium/store'
import { requestError } from '../http/problem.ts'
import type { DurableRuns } from '../options/durable-runs.ts'
import type { Shares } from '../options/limits.ts'
import type { ServedAgent } from '../options/options.ts'
import type { ActiveRuns } from './active-runs.ts'
import { displayTransformOf } from './display-transform.ts'
import { LocalRun } from './local-run.ts'
import { RemoteRun } from './remote-run.ts'
import type { ReadersOptions, RunHandle } from './run-handle.ts'
import {
  type AgentRunRequest,
  checkKeyReuse,
  entryContextOf,
  inputDigestOf,
  readSchemas,
  runOptionsOf,
} from './run-request.ts'
import { markTokenUsed } from './used-tokens.ts'

export interface RunStarterOptions extends ReadersOptions {
  readonly shares: Pick<Shares, 'runs'>
  readonly log: EventLog
  readonly sessions: SessionStore
  readonly logger: Logger
  readonly durables: readonly DurableRuns[]
}

type TrackedRun = AgentRun<unknown> & { [key: symbol]: LocalRun | undefined }

/** Starts runs in sessions that are free: in this process, or as durable runs. */
export class RunStarter {
  readonly #options: RunStarterOptions
  readonly #active: ActiveRuns
  /** A property of a run. A WeakMap whose values refer to their keys keeps both until a full collection. */
  readonly #localRun = Symbol('localRun')
  draining = false

  constructor(options: RunStarterOptions, active: ActiveRuns) {
    this.#options = options
    this.#active = active
  }

  /** Starts a run, or finds the run of its idempotency key. @throws AlliumError `server.draining`, `run.key_reused` */
  async start(given: AgentRunRequest): Promise<RunHandle> {
    if (this.draining) throw requestError('server.draining', 'The server is shutting down. Try again in a moment.')
    const session = sessionOf(given)
    const permit = this.#options.shares.runs.acquire(session.key)
    try {
      // An edit removes messages before its run starts, which would refuse these tools and schemas.
      if (given.message !== undefined && given.clientTools !== undefined) checkToolNames(given.agent, given.clientTools)
      const output = await readSchemas(given)
      const request = { ...given, ...(await given.message?.prepare()) } as AgentRunRequest
      const run = await this.#startRun(session, request, output)
      // A run that was found by its key already has a permit.
      if (this.#active.agentOf(run) !== undefined) permit.release()
      else run.ended.catch(() => {}).finally(() => permit.release())
      this.#active.setAgent(run, request.agent)
      return run
    } catch (error) {
      permit.release()
      throw error
    }
  }

  durableOf(agent: ServedAgent): DurableRuns | undefined {
    return this.#options.durables.find((durable) => (durable.agent as unknown) === agent)
  }

  /** Returns the function that shows a stored answer as readers of the session see it. */
  displayFor(agent: ServedAgent, key: SessionKey): (text: string) => Promise<string> {
    return async (text) => (await displayTransformOf(agent, key, this.#options.logger))(text)
  }

  #startRun(
    session: ReturnType<typeof sessionOf>,
    request: AgentRunRequest,
    output: OutputOption | undefined,
  ): Promise<RunHandle> {
    const durable = this.durableOf(request.agent)
    if (durable !== undefined && request.sessionId !== undefined)
      return this.#startDurable(durable, session.key, request)
    return this.#startLocal(session, runOptionsOf(request, output), request)
  }

  async #startLocal(
    session: ReturnType<typeof sessionOf>,
    options: ReturnType<typeof runOptionsOf>,
    request: AgentRunRequest,
  ): Promise<LocalRun> {
    const { input, decisions, idempotencyKey, approver } = request
    // Only requests with a key are compared.
    const digest = idempotencyKey === undefined ? '' : await inputDigestOf(request)
    const run =
      decisions === undefined
        ? session.run(input, options)
        : session.resume(decisions, approver === undefined ? options : { ...options, approver: approver as never })
    const localRun = (run as TrackedRun)[this.#localRun] ?? this.#trackLocal(run, session.key, { request, digest })
    if (localRun.idempotencyKey === idempotencyKey) checkKeyReuse(localRun.inputDigest, digest, idempotencyKey)
    this.#markTokensUsed(localRun, decisions)
    localRun.readers.join()
    localRun.ended.catch(() => {}).finally(() => session.close().catch(() => {}))
    return localRun
  }

  #trackLocal(
    run: AgentRun<unknown>,
    key: SessionKey,
    { request, digest }: { request: AgentRunRequest; digest: string },
  ): LocalRun {
    const { log, clock, abortAfter } = this.#options
    const { sessionId, idempotencyKey, onDisconnect = this.#options.onDisconnect } = request
    const { clientTools, decided } = entryContextOf(request)
    const settings = { sessionId, clientTools, decided, inputDigest: digest, idempotencyKey, onDisconnect }
    const localRun = new LocalRun(run, { log, clock, abortAfter, key, ...settings })
    ;(run as TrackedRun)[this.#localRun] = localRun
    return this.#active.track(localRun)
  }

  /** Starts a durable run. This process or another one executes it. */
  async #startDurable(durable: DurableRuns, key: SessionKey, request: AgentRunRequest): Promise<RunHandle> {
    const { principal, input, decisions, approver, clientTools, output, idempotencyKey, onRetryAfterOutput } = request
    const payload = decisions === undefined ? { input } : { decisions, approver }
    const { sessionId } = key
    const settings = { principal, sessionId, clientTools, output, idempotencyKey, onRetryAfterOutput }
    const started = await durable.start({ ...payload, ...settings, onBusy: 'reject' })
    const { onDisconnect = this.#options.onDisconnect } = request
    const display = this.displayFor(request.agent, key)
    const remote = { ...this.#options, runs: durable, display, principal, key, idempotencyKey, onDisconnect }
    const open = (turnId: string) => this.#active.find(key, turnId) ?? this.#active.track(new RemoteRun(turnId, remote))
    const run = open(started.turnId)
    this.#markTokensUsed(run, decisions)
    run.readers.join()
    return (await durable.follow?.(run, open, principal)) ?? run
  }

  /** Marks the tokens of decisions as used. If that fails, a repeated token is reported as unknown. */
  #markTokensUsed(run: RunHandle, decisions: Readonly<Record<string, Decision>> = {}): void {
    const tokens = Object.values(decisions).flatMap((decision) => decision?.token ?? [])
    const mark = (token: string) => markTokenUsed(this.#options.log, run.key, token)
    run.started.then(() => Promise.all(tokens.map(mark))).catch(() => {})
  }
}

/** @throws AlliumError `tool.duplicate` if a tool of the client has the name of another one */
function checkToolNames(agent: ServedAgent, clientTools: readonly ToolDef[]): void {
  const names = new Set(agent.inspect().tools.map(({ name }) => name))
  for (const { name } of clientTools) {
    if (names.has(name))
      throw requestError('tool.duplicate', `The tool "${name}" is registered twice. Rename one of them.`)
    names.add(name)
  }
}

/** Returns the session of a request, or a new session that is not stored. */
export function sessionOf({ agent, principal, sessionId }: AgentRunRequest): ReturnType<ServedAgent['session']> {
  const options = { principal: principal as never }
  return agent.session(sessionId === undefined ? options : { id: sessionId, ...options })
}
