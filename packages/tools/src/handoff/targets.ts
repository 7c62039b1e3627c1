import { AlliumError } from '@allium/core'

/** An agent as handoffs use it. */
export interface HandoffAgent {
  readonly name: string
  readonly sessionGroup?: string | undefined
  inspect(): { readonly layers: readonly { readonly name: string; readonly state: readonly string[] }[] }
}

/** The state key that names the agent of the session. */
export const handoffKey = 'tools:handoff'

/** Why a turn that handed its session off was stopped. */
export const handoffReason = 'handoff'

/**
 * Checks the agents that an agent may hand off to, and returns them.
 *
 * @throws AlliumError `layer.config`
 */
export function checkTargets<T extends { readonly agent: HandoffAgent }>(
  from: { readonly name: string; readonly sessionNames: readonly string[] },
  targets: readonly T[],
): readonly T[] {
  const names = new Set<string>()
  for (const { agent } of targets) {
    const { name } = agent
    if (name === from.name) throw refusal(from, name, 'which is itself. Remove it from "to".')
    if (names.has(name)) throw refusal(from, name, 'which is in "to" twice. Remove one of them.')
    if (agent.sessionGroup === undefined || agent.sessionGroup !== from.sessionNames[0])
      throw refusal(
        from,
        name,
        `which is not in its session group. Give both agents the same sessionGroup, not "${from.sessionNames[0]}" and "${agent.sessionGroup ?? name}".`,
      )
    if (!stateKeysOf(agent).includes(handoffKey))
      throw refusal(from, name, 'which has no layer handoff. Add handoff({ to: [] }) to it.')
    names.add(name)
  }
  return targets
}

/**
 * Checks that no state of the session is lost: its budgets, for example.
 *
 * @throws AlliumError `layer.config` if the target does not declare one of the keys
 */
export function checkTargetState(from: string, keys: readonly string[], target: HandoffAgent): void {
  const known = stateKeysOf(target)
  const lost = keys.find((key) => !known.includes(key))
  if (lost !== undefined)
    throw refusal(
      { name: from },
      target.name,
      `which does not declare the state key "${lost}". Add the layer with that key to it, so that the session keeps this state.`,
    )
}

function stateKeysOf(agent: HandoffAgent): string[] {
  return agent.inspect().layers.flatMap(({ state }) => state)
}

function refusal(from: { readonly name: string }, to: string, why: string): AlliumError {
  return new AlliumError('layer.config', `The agent "${from.name}" hands off to "${to}", ${why}`)
}
