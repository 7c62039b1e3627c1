import { toMessages } from '../messages/check-messages.ts'
import type { WrappedRun } from '../ports/around.ts'
import { isDirect } from '../ports/journal.ts'
import type { StoredTurn } from '../ports/session-store.ts'
import { inheritedInputs } from '../turn/inputs.ts'
import type { RunResult } from '../turn/run-result.ts'
import { runLayers } from '../turn/run-turn.ts'
import { endedTurn } from '../turn/stored-turn.ts'
import type { Turn } from '../turn/turn.ts'
import type { AbortableWaits } from './abortable-waits.ts'
import { aroundRun } from './around-run.ts'
import type { LiveRun } from './live-run.ts'
import type { Task } from './options.ts'
import { storedAsOf } from './run-keys.ts'
import type { SessionScope } from './scope/session-scope.ts'
import type { SessionHost } from './session-host.ts'
import { delegated, journalOf, outputOf, type Prepared, prepare, turnOf } from './task.ts'

/** A run, its task, and the session that it belongs to. */
export interface Beginning {
  readonly run: LiveRun
  readonly task: Task<unknown>
  readonly scope: SessionScope
  readonly host: SessionHost
}

/** Whether a run has nothing to wait for before its turn. */
export function startsAtOnce({ task: { decisions, options }, scope }: Beginning): boolean {
  if (decisions !== undefined || options.output !== undefined || options.clientTools !== undefined) return false
  if (scope.registered.aroundRun !== undefined) return false
  if (options.journal !== undefined || !isDirect(scope.journal)) return false
  return inheritedInputs(scope).length === 0
}

/** Runs a turn until its history is final. Throws if the run's options are invalid; nothing has changed then. */
export function runTurn({ run, task, scope, host }: Beginning, prepared: Prepared): Promise<Turn> {
  const turn = turnOf(task, scope, host, run.events, prepared)
  run.begin(turn)
  return runLayers(turn, prepared.output?.parse)
}

/** Returns the output of a stored run, in the form that its task asks for. */
export async function outputOfStored({ task, scope }: Beginning, { answer, status }: StoredTurn) {
  const plan = await outputOf(task, scope)
  if (plan === undefined) return answer
  if (status !== 'completed') return null
  return (await plan.parse(answer ?? '', scope.agent.setup.validate)) as RunResult['output']
}

/** Runs a turn inside the session's wrappers. Returns the stored turn that answers the run, if no turn ran. */
export async function runWrapped(begin: Beginning, waits: AbortableWaits): Promise<StoredTurn | undefined> {
  const { run, task, scope } = begin
  const isWrapped = scope.registered.aroundRun !== undefined
  if (task.decisions === undefined) toMessages(task.input)
  const storedAs = isWrapped ? await storedAsOf(task) : undefined
  const enter = async ({ journal, clock }: Pick<WrappedRun, 'journal' | 'clock'>) => {
    const prepared = await prepare(begin, waits, journal)
    const ready = await waits.until(delegated(task, scope))
    run.follow(undefined)
    return runTurn({ ...begin, task: ready }, { ...prepared, storedAs, clock })
  }
  if (!isWrapped) return void (await enter({}))
  const { turnId } = task.options
  const abort = (reason: unknown) => run.abort(reason)
  const details = { ...storedAs, task, turnId, journal: journalOf(task.options, scope), abort, waits }
  const turn = await aroundRun(scope, 'run', async (wrapped) => endedTurn(await enter(wrapped)), details)
  if (run.turn === undefined) return turn
  scope.markStored(turn)
  return undefined
}
