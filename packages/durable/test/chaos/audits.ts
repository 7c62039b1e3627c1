import type { StoredTurn } from '@allium/core'
import { verify } from '@allium/observe'
import { decidedKey, type Opened, principal } from './scene.ts'

/** The chain is whole, and tells of each run what every other one of its kind tells: each thing once. */
export async function auditProblems({ audit }: Opened, turns: readonly StoredTurn[]): Promise<string[]> {
  const chain = audit.chainOf(principal.tenantId)
  const { ok, firstBad } = await verify(chain)
  const problems = ok ? [] : [`the audit is broken: ${JSON.stringify(firstBad)}`]
  const told = new Map<string, string[]>()
  for await (const line of chain.lines()) {
    const record = JSON.parse(line) as Record<string, string>
    const turn = String(record.turnId)
    told.set(turn, [...(told.get(turn) ?? []), thingOf(record)])
  }
  const asked = new Map<string, string>()
  for (const { turnId, idempotencyKey = '' } of turns) {
    const kind = idempotencyKey.endsWith(decidedKey('')) ? 'decided' : 'asked'
    const things = (told.get(turnId) ?? []).sort().join('\n')
    const usual = asked.get(kind)
    if (usual === undefined) asked.set(kind, things)
    else if (usual !== things)
      problems.push(`the audit of ${idempotencyKey} tells otherwise: ${difference(usual, things)}`)
  }
  return problems
}

/** What a record is about, without the key of its turn. */
function thingOf({ type, call, attempt, callId = '', status, agent }: Record<string, string>): string {
  return [agent, type, call, attempt, callId.replace(/^.*-/, ''), status].join(' ')
}

function difference(usual: string, found: string): string {
  const [a, b] = [usual.split('\n'), found.split('\n')]
  const without = (from: string[], of: string[]) =>
    of.reduce((rest, one) => rest.toSpliced(rest.indexOf(one), rest.includes(one) ? 1 : 0), from)
  return `without ${JSON.stringify(without(a, b))}, with ${JSON.stringify(without(b, a))} beside`
}
