import type { Session } from '@allium/core'
import { expect } from 'vitest'
import { type Case, kinds } from './cases.ts'
import { faultsOf } from './history.ts'
import type { World } from './world.ts'

/** Whole numbers that look like chance, the same ones each time. */
export function chance(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state >>> 8
  }
}

/** Runs one case to its end, in a session of this tenant, and checks all that it must have left behind. */
export async function runCase(
  world: World,
  session: Session<object>,
  tenant: string,
  kind: string,
  n: number,
): Promise<void> {
  const { server, ran } = world
  await session.open()
  const wanted = (kinds[kind] as (n: number, provider: string) => Case)(n, server.url)
  if (wanted.repeats && session.history.length > 0)
    return inSession(world, tenant, (fresh) => runCase(world, fresh, tenant, kind, n))
  server.scripts.set(String(n), { tenant, wire: [...wanted.wire] })
  if (wanted.secret !== undefined) server.secrets.add(wanted.secret)
  const ended = await endOf(world, session, wanted)
  const about = `${kind} #${n}: ${ended.reason ?? ''} ${ended.text}`
  expect(ended.status, about).toBe(wanted.status)
  if (wanted.decides !== undefined) {
    const decision = wanted.decides === 'approve' ? { approve: true as const } : { deny: 'No.' }
    const resumed = await session.resume(Object.fromEntries(session.pending.map(({ callId }) => [callId, decision])))
    expect(resumed.status, about).toBe('completed')
  }
  if (wanted.text !== undefined) expect(ended.text, about).toContain(wanted.text)
  if (wanted.tool !== undefined) expect(JSON.stringify(session.history.slice(-3)), about).toContain(wanted.tool)
  expect(faultsOf(session.history), about).toEqual([])
  expect(ran.get(session.id)?.sort() ?? [], about).toEqual((wanted.ran ?? []).sort())
  ran.delete(session.id)
  world.leaves.delete(session.id)
  if (wanted.repeats) {
    const again = await inSession(world, tenant, async (other) => (await other.run(wanted.input)).text)
    expect(again, about).toBe(ended.text)
  }
  expect(server.scripts.get(String(n))?.wire, `${about}: what the provider was not asked for`).toEqual([])
  if (wanted.secret !== undefined) server.secrets.delete(wanted.secret)
}

/** Does something in a session of a tenant, and forgets the session. */
export async function inSession<T>(
  { agent, store }: World,
  tenant: string,
  work: (session: Session<object>) => Promise<T>,
) {
  const session = agent.session({ principal: { tenantId: tenant, userId: 'dana' } })
  try {
    return await work(session)
  } finally {
    await session.close()
    await store.delete(session.key)
  }
}

/** Reads the whole stream, then the result: both must tell the same. */
async function endOf(world: World, session: Session<object>, { input, file, leaves }: Case) {
  const leaving = new AbortController()
  if (leaves) world.leaves.set(session.id, () => leaving.abort())
  const data = new TextEncoder().encode(file)
  const image = { type: 'image' as const, data, mediaType: 'image/png' }
  const content = file === undefined ? input : [{ type: 'text' as const, text: input }, image]
  const run = session.run([{ role: 'user', content }], { signal: leaving.signal })
  let shown = ''
  let ends = 0
  try {
    for await (const event of run) {
      if (event.type === 'turn:end' && !('path' in event)) ends++
      if ((event.type === 'model:reset' || event.type === 'step:start') && !('path' in event)) shown = ''
      if (event.type === 'text-delta') shown += event.delta
    }
    const { status, text, reason } = await run
    if (status === 'completed') expect(shown).toBe(text)
    expect(ends).toBe(1)
    return { status, text, reason }
  } catch (error) {
    expect(ends, String(error)).toBe(1)
    return { status: leaving.signal.aborted ? 'aborted' : 'failed', text: '', reason: String(error) }
  }
}
