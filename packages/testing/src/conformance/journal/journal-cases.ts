import type { ContentChunk, Journal } from '@allium/core'
import { check, checkEqual } from '../check.ts'

/** The test bench of a case. `reopen` returns the journal as the next process sees it. */
export interface JournalBench {
  journal: Journal
  reopen(): Promise<Journal>
}

/** The result of a replayed step, and its chunks. */
interface Played {
  result?: unknown
  error?: unknown
  chunks: unknown[]
}

/** Runs a step and records its output. */
async function play(
  journal: Journal,
  id: string,
  work: (emit: (chunk: unknown) => unknown) => unknown,
): Promise<Played> {
  const chunks: unknown[] = []
  try {
    const result = await journal.step<unknown, unknown>(
      id,
      async (emit) => work(emit),
      (chunk) => void chunks.push(chunk),
    )
    return { result, chunks }
  } catch (error) {
    return { error, chunks }
  }
}

/** Replays a step, which must not run again. */
function replay(journal: Journal, id: string): Promise<Played> {
  return play(journal, id, () => check(false, `The step "${id}" is recorded, and does not run again`))
}

const delta = (text: string): ContentChunk => ({ type: 'text-delta', delta: text })

/** Merges adjacent text, because a journal may store it merged. */
function merged(chunks: readonly unknown[]): unknown[] {
  const left: unknown[] = []
  for (const chunk of chunks as { type?: unknown; delta?: unknown }[]) {
    const before = left.at(-1) as { type?: unknown; delta?: unknown } | undefined
    if (chunk.type === 'text-delta' && before?.type === 'text-delta')
      left[left.length - 1] = { ...before, delta: `${before.delta}${chunk.delta}` }
    else left.push(chunk)
  }
  return left
}

const call: readonly unknown[] = [
  delta('Look'),
  delta('ing "it" up \u2028 👩‍👩‍👧'),
  { type: 'tool-input-start', callId: 'c', name: 'find' },
  { type: 'tool-input-delta', callId: 'c', delta: '{"q":1}' },
  { type: 'tool-input-end', callId: 'c' },
  delta('Done.'),
]

export const journalCaseList: Readonly<Record<string, (bench: JournalBench) => Promise<void>>> = {
  async 'replays a recorded step without running it, with its chunks in order'({ journal, reopen }) {
    const finish = { type: 'finish', reason: 'stop', usage: { inputTokens: 3, outputTokens: 4 } }
    const first = await play(journal, 'x:0:model:0:1', async (emit) => {
      for (const chunk of call) await emit(chunk)
      return finish
    })
    checkEqual(first, { result: finish, chunks: call }, 'A running step sends its chunks as they come')
    const again = await replay(await reopen(), 'x:0:model:0:1')
    checkEqual(merged(again.chunks), merged(call), 'A replay sends the same chunks')
    checkEqual(again.result, finish, 'A replay returns the same result')
  },

  async 'finds steps by their ids, in any order'({ journal, reopen }) {
    const ids = Array.from({ length: 20 }, (_, i) => `x:0:tool:call ${i}/"ö":1`)
    await Promise.all(ids.map((id, i) => play(journal, id, () => `result ${i}`)))
    const other = await reopen()
    const reversed = ids.map((id, i) => ({ id, i })).reverse()
    const given = await Promise.all(reversed.map(({ id }) => replay(other, id)))
    checkEqual(
      given.map(({ result }) => result),
      reversed.map(({ i }) => `result ${i}`),
      'Each id has its own result',
    )
  },

  async 'records a step while others run'({ journal, reopen }) {
    let end = (_: string) => {}
    const slow = play(journal, 'x:0:tool:slow:1', () => new Promise<string>((resolve) => (end = resolve)))
    const fast = await play(journal, 'x:0:tool:fast:1', () => 'fast')
    checkEqual(fast.result, 'fast', 'A step does not wait for another one')
    checkEqual((await replay(await reopen(), 'x:0:tool:fast:1')).result, 'fast', 'It is recorded before that has ended')
    end('slow')
    await slow
    checkEqual((await replay(await reopen(), 'x:0:tool:slow:1')).result, 'slow', 'The other one is, once it has ended')
  },

  async 'replays an error with its fields and the chunks before it'({ journal, reopen }) {
    const failure = Object.assign(new Error('overloaded'), {
      name: 'ProviderError',
      code: 'busy',
      status: 503,
      isRetryable: true,
    })
    const first = await play(journal, 'x:0:model:0:1', async (emit) => {
      await emit(delta('Half'))
      throw failure
    })
    check(first.error === failure, 'A live step fails with the original error')
    const { error, chunks } = await replay(await reopen(), 'x:0:model:0:1')
    check(error instanceof Error, 'A replay fails where the step failed')
    const { name, message, code, status, isRetryable } = error as typeof failure
    const expectedFields = ['ProviderError', 'overloaded', 'busy', 503, true]
    checkEqual([name, message, code, status, isRetryable], expectedFields, 'A replayed error has the same fields')
    checkEqual(chunks, [delta('Half')], 'Chunks before the error are sent again')
  },

  async 'keeps results of tools, bytes among them'({ journal, reopen }) {
    const content = [{ type: 'file', mediaType: 'image/png', data: Uint8Array.of(0, 255, 7) }]
    const result = { callId: 'c', status: 'ok', content }
    const values = [null, 0, '', false, [], { a: [null] }, 'x'.repeat(100_000)]
    await play(journal, 'x:0:tool:c:1', () => result)
    for (const [i, value] of values.entries()) await play(journal, `x:0:once:${i}:1`, () => value)
    const reopened = await reopen()
    checkEqual((await replay(reopened, 'x:0:tool:c:1')).result, result, 'A result is returned unchanged')
    for (const [i, value] of values.entries())
      checkEqual((await replay(reopened, `x:0:once:${i}:1`)).result, value, `Result ${i} is returned unchanged`)
  },

  async 'keeps a step of 2,000 chunks'({ journal, reopen }) {
    const chunks = Array.from({ length: 2000 }, (_, i) => ({ type: 'reasoning-delta', delta: `${i} ` }))
    const joined = (all: readonly unknown[]) => (all as typeof chunks).map((chunk) => chunk.delta).join('')
    const { chunks: live } = await play(journal, 'x:0:model:0:1', async (emit) => {
      for (const chunk of chunks) await emit(chunk)
    })
    checkEqual(joined(live), joined(chunks), 'Each chunk is sent')
    checkEqual(
      joined((await replay(await reopen(), 'x:0:model:0:1')).chunks),
      joined(chunks),
      'A replay sends all of them',
    )
  },

  async 'does not record a step that was cancelled with its run'({ journal, reopen }) {
    await play(journal, 'x:0:model:0:1', () => Promise.reject(new DOMException('The run was aborted.', 'AbortError')))
    const again = await play(await reopen(), 'x:0:model:0:1', () => 'asked again')
    checkEqual(again.result, 'asked again', 'Its outcome is unknown, so it runs again')
  },

  async 'tells which steps are recorded, where it says so at all'({ journal, reopen }) {
    if (journal.known === undefined) return
    await play(journal, 'x:0:tool:a:1', () => 'a')
    const other = await reopen()
    const known = [
      await other.known?.('x:0:tool:a:1'),
      await other.known?.('x:0:tool:b:1'),
      await journal.known('x:0:tool:a:1'),
    ]
    checkEqual(known, [true, false, true], 'known() is true of recorded steps alone')
  },
}
