import { AlliumError, type Journal } from '@allium/core'
import { codeDifferences, shapeOf } from '@allium/store'
import type { RestateAgent } from './restate-agent.ts'

/**
 * Records the structure of the code as the first step of a run. A later attempt with other layers, order, tools or schemas executes
 * nothing. A journal of before version 0.1 lacks the step, and gets it from the first attempt with this version.
 *
 * @throws AlliumError `journal.diverged` with the differences
 */
export async function checkCode(agent: RestateAgent, journal: Journal, turnId: string): Promise<void> {
  const now = await shapeOf(agent)
  const began = await journal.step(
    `${turnId}:code`,
    () => now,
    () => {},
  )
  const { structure } = codeDifferences(began, now)
  if (structure.length === 0) return
  throw new AlliumError(
    'journal.diverged',
    `The run was recorded by other code: ${structure.join('; ')}. No step was executed. Deploy each build at an address of its own, so that the build that began a run can finish it.`,
    { details: { differs: structure } },
  )
}
