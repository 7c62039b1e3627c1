import { AlliumError, isAlliumError, messageOf, systemClock } from '@allium/core'
import type { RunSummary } from '@allium/store'
import { storedShapeOf } from '@allium/store/code-shape'
import { type Migration, migrate } from '../migration/migrate.ts'
import type { RehearsalHost } from '../migration/rehearsal.ts'
import { text } from './bounds.ts'
import type { MigrateRunOptions } from './operations.ts'
import type { OperationsOptions } from './options.ts'
import { runNotFound } from './run-not-found.ts'

/** Milliseconds that a rehearsal waits for recorded calls that the code may still request: one lease of `durable()`. */
const patience = 10_000

/**
 * Moves a run to the version of an agent in the options, if its recorded steps fit.
 *
 * @param beforeMove called before a run that fits is moved. The run stays as it is if it throws
 * @throws AlliumError `run.options`, `run.version`, `agent.options`
 */
export async function migrateRun(
  options: OperationsOptions,
  { run, key, agent }: RunSummary,
  { to, dryRun = false, beforeMove }: MigrateRunOptions & { beforeMove(): Promise<unknown> },
): Promise<Migration> {
  const { runs } = options.store
  const host = hostOf(options, agent)
  await host.agent.init()
  const id = { tenant: key.tenant, run }
  const found = await runs.get(id)
  if (found === undefined) throw runNotFound(run)
  const migration = await migrate(host, found, { to: text('version', to), dryRun: true })
  if (dryRun || !migration.fits) return migration
  if (found.version === to) return { ...migration, moved: true }
  await beforeMove()
  return { ...migration, moved: await runs.migrate(id, { from: found.version, to }) }
}

function hostOf(
  { store, agents = [], resolvePrincipal, clock = systemClock }: OperationsOptions,
  name: string,
): RehearsalHost {
  const agent = agents.find((one) => one.name === name || one.formerNames.includes(name))
  if (agent === undefined)
    throw new AlliumError(
      'run.options',
      `The run belongs to the agent "${name}", whose code this process does not have. Pass the agent of the new version to operations(), in agents.`,
    )
  const { version } = agent
  if (version === undefined)
    throw new AlliumError(
      'agent.options',
      `A run can only be moved to code with a version. Create "${name}" with one, such as new Agent({ version: '1.5' }).`,
    )
  return {
    agent,
    version,
    shape: () => storedShapeOf(agent),
    runs: store.runs,
    lease: patience,
    clock,
    resolvePrincipal,
    reasonOf,
  }
}

/** Other messages may contain content. */
function reasonOf(error: unknown): string {
  if (isAlliumError(error) && error.code.startsWith('journal.')) return messageOf(error)
  const { code, name = 'an error' } = (error ?? {}) as { code?: string; name?: string }
  return `The code failed with ${isAlliumError(error) ? code : name} before it requested all recorded steps.`
}
