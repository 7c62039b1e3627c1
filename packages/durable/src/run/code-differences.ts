import type { DurableRun, RecordedStep } from '@allium/store'
import { type CodeDifferences, codeDifferences } from '@allium/store/code-shape'
import type { AgentCode } from '../host/host.ts'
import type { Task } from './task.ts'

/** Compares the code with the one that the run was started with. A run that has recorded only its start fits any code. */
export async function differencesOf(
  current: Pick<AgentCode, 'version' | 'shape'>,
  { run, version }: DurableRun,
  { task: { code, version: began = version }, steps }: { task: Task; steps: readonly RecordedStep[] },
): Promise<CodeDifferences> {
  const hasSteps = steps.some(({ id }) => id !== `${run}:start`)
  if (code === undefined || !hasSteps) return { structure: [], options: [] }
  const found = codeDifferences(code, await current.shape())
  // `migrate()` has replayed the run with the code of this version.
  const isMigrated = version !== began && version === current.version
  return isMigrated ? { structure: [], options: [...found.structure, ...found.options] } : found
}

export function otherCode({ run, version }: DurableRun, differences: readonly string[]): string {
  return `The run "${run}" was recorded by other code (version "${version}"): ${differences.join('; ')}. Continue it with the code that began it, then retry it.`
}
