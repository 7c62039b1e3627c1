import { Agent, type Message, type StoredTurn, toJson } from '@allium/core'
import { memoryStore } from '@allium/store'
import { persist } from '../../memory/src/index.ts'
import { scriptedModel } from '../../testing/src/index.ts'
import type { Encryption } from '../src/index.ts'

/** What a row of a table holds, by its columns. */
export type OldRow = readonly [table: string, columns: Readonly<Record<string, string | number | Uint8Array | null>>]

export const secret = 'a secret of some length'
export const principal = { tenantId: 'acme', userId: 'ann' }
const place = { tenant: 'acme', owner: 'ann' }

/** The agent whose sessions the rows are: its tool needs an approval. */
export function agentOf(name: string, answers: Parameters<typeof scriptedModel>[0][number][], paid: string[] = []) {
  const pay = {
    name: 'pay',
    description: 'Pays',
    jsonSchema: {},
    requireApproval: true,
    execute: () => paid.push(name),
  }
  return new Agent({ name, model: scriptedModel(answers), tools: [pay], approvals: { secret } })
}

/**
 * Rows as versions without agents have written them: Ann's session "chat" of two turns of `strict`, of which a call waits; "begun", whose
 * process was lost in its first turn; and, from schema 4 on, "durable", of which a durable run goes on. With placeholders from schema 3 on.
 */
export async function oldRows(schema: number, encrypt: Encryption | undefined): Promise<OldRow[]> {
  const bytes = async (value: unknown, ...row: string[]) => {
    const plain = new TextEncoder().encode(toJson(value))
    return encrypt === undefined ? plain : await encrypt.seal(plain, { tenant: 'acme', row: JSON.stringify(row) })
  }
  const turnRow = async (session: string, seq: number, turn: StoredTurn): Promise<OldRow> => {
    const { messages, rest, from, turnId, status, startedAt, endedAt, usage, idempotencyKey, ...info } = turn
    const sealed = (value: unknown, part: string) => bytes(value, 'turn', 'ann', session, turnId, part)
    return [
      'turns',
      {
        ...{ ...place, session, seq, turn_id: turnId, idempotency_key: idempotencyKey ?? null, status },
        ...{ started_at: Math.floor(startedAt), ended_at: endedAt === undefined ? null : Math.floor(endedAt) },
        ...{ usage: JSON.stringify(usage), start: from, count: messages.length, digest: 'none' },
        messages: await sealed(messages, 'messages'),
        rest: await sealed(rest, 'rest'),
        info: await sealed(info, 'info'),
      },
    ]
  }
  const sessionRow = (id: string, more: OldRow[1]): OldRow => ['sessions', { ...place, id, updated_at: 5, ...more }]
  const [first, second] = await twoTurns()
  const { turnId, rest } = second
  const rows = [
    sessionRow('chat', { version: 2, length: second.from + second.messages.length, status: 'suspended' }),
    await turnRow('chat', 0, first),
    await turnRow('chat', 1, second),
    [
      'waiting',
      {
        ...{ ...place, session: 'chat', call_id: 'c1', turn_id: turnId, name: 'pay', expires_at: null },
        token: await digest(rest.suspension?.calls.c1?.token ?? '', encrypt),
      },
    ] as OldRow,
    sessionRow('begun', { version: 0, length: 0, status: 'running', open_turn: 'lost' }),
    await turnRow('begun', -1, open('lost', 'Begun.')),
  ]
  if (schema >= 3) {
    const body = await bytes({ '[NAME_1]': 'Ann' }, 'vault', 'ann', 'chat', 'guard:pii')
    rows.push(['vault', { ...place, session: 'chat', layer: 'guard:pii', body }])
  }
  if (schema < 4) return rows
  const run = { tenant: 'acme', run: 'r1' }
  const task = await bytes({ input: 'Go on', principal }, 'run', 'ann', 'durable', 'r1', 'task')
  const of = {
    agent: 'strict',
    version: '',
    status: 'running',
    run_at: 1,
    attempts: 1,
    token: 1,
    asked: 'a',
    updated_at: 1,
  }
  return [
    ...rows,
    sessionRow('durable', { version: 0, length: 0, status: null, token: 1, run: 'r1' }),
    ['runs', { ...run, owner: 'ann', session: 'durable', ...of, task }],
    ['steps', { ...run, id: 's1', token: 1, body: await bytes('{"a":1}', 'run', 'ann', 'durable', 'r1', 'step s1') }],
  ]
}

/** Of an agent that asks for an approval, with a record that names no agent, and a token over that. */
async function twoTurns(): Promise<[StoredTurn, StoredTurn]> {
  const store = memoryStore()
  const agent = agentOf('strict', ['Hello.', { toolCalls: [{ name: 'pay', callId: 'c1' }] }])
  const session = agent.use(persist({ store })).session({ id: 'chat', principal })
  await session.run('Hi', { idempotencyKey: 'k' })
  await session.run('Pay')
  const [first, second] = await Promise.all([1, 2].map((version) => store.find(session.key, { version })))
  const { rest } = second as StoredTurn
  return [first as StoredTurn, { ...(second as StoredTurn), rest }]
}

function open(turnId: string, text: string): StoredTurn {
  const messages: Message[] = [{ role: 'user', content: text }]
  const usage = { inputTokens: 0, outputTokens: 0, calls: 0 }
  const of = {
    rootId: turnId,
    agent: 'strict',
    status: 'running',
    startedAt: 1,
    usage,
    answer: null,
    records: [],
  } as const
  return { ...of, records: [], turnId, from: 0, messages, rest: { state: {} } }
}

async function digest(text: string, encrypt: Encryption | undefined): Promise<string> {
  const bytes = new TextEncoder().encode(text)
  const made =
    (await encrypt?.mac?.(bytes, { tenant: 'acme' })) ?? new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return Buffer.from((Array.isArray(made) ? made[0] : made) as Uint8Array).toString('base64url')
}
