import type { RecordedStep } from '@allium/store'

/** The step of a `once()` of one attempt, with the position of its layer before the attempt's number. */
const positioned = /^(.*:once:(?:model:\d+:|tool:.+?:)?)\d+:(\d+):(.+)$/s

/** Returns the steps of a run of before version 0.1 under today's ids, which do not depend on the position of a layer. */
export function withoutPositions(steps: readonly RecordedStep[]): RecordedStep[] {
  return steps.map((step) => ({ ...step, id: step.id.replace(positioned, '$1$2::$3') }))
}
