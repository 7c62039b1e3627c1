import type { DurableRun, RecordedStep } from '@allium/store'
import { type CodeDifferences, type CodeShape, codeDifferences } from '@allium/store/code-shape'
import type { AgentCode, Stores } from '../host/host.ts'
import type { Task } from './task.ts'

/** The shape of the code of this process, and that of the code that a run was started with. */
export interface Shapes {
  readonly began: CodeShape
  readonly now: CodeShape
}

/** Returns undefined for a run that was added without one. Reads only a shape that this process does not have. */
export async function shapesOf(
  { shape, runs }: Pick<AgentCode & Stores, 'shape' | 'runs'>,
  { shape: digest }: DurableRun,
): Promise<Shapes | undefined> {
  const current = await shape()
  const body = digest === current.digest ? current.body : digest && (await runs.shape(digest))
  return body === undefined ? undefined : { began: JSON.parse(body), now: current.shape }
}

/** Compares the code with the one that the run was started with. A run that has recorded only its start fits any code. */
export function differencesOf(
  current: Pick<AgentCode, 'version'>,
  { run, version }: DurableRun,
  {
    task: { version: began = version },
    steps,
    shapes,
  }: { task: Task; steps: readonly RecordedStep[]; shapes: Shapes | undefined },
): CodeDifferences {
  const hasSteps = steps.some(({ id }) => id !== `${run}:start`)
  if (shapes === undefined || !hasSteps) return { structure: [], options: [] }
  const found = codeDifferences(shapes.began, shapes.now)
  // `migrate()` has replayed the run with the code of this version.
  const isMigrated = version !== began && version === current.version
  return isMigrated ? { structure: [], options: [...found.structure, ...found.options] } : found
}

export function otherCode({ run, version }: DurableRun, differences: readonly string[]): string {
  return `The run "${run}" was recorded by other code (version "${version}"): ${differences.join('; ')}. Continue it with the code that began it, then retry it.`
}
