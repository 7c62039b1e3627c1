import type { ContentChunk } from '@allium/core'
import { expect, it } from 'vitest'
import { filterStream } from '../src/content/stream-filter.ts'
import { mapTexts } from '../src/text/map-message.ts'

const whole = (text: string) => text
const hologram = { type: 'hologram', delta: 'ann@example.com' } as never as ContentChunk

async function through(failed: (error: unknown) => unknown): Promise<ContentChunk[]> {
  async function* chunks() {
    yield hologram
  }
  const left: ContentChunk[] = []
  const pipe = filterStream({ detectors: [], replace: () => '', filterText: whole }, failed)
  for await (const chunk of pipe(chunks(), () => new Promise(() => {}))) left.push(chunk)
  return left
}

it('a kind of chunk that guards do not know is an error of the guard, and does not pass', async () => {
  const blocks = (error: unknown) => {
    throw error
  }
  await expect(through(blocks)).rejects.toThrow('does not know a chunk of the kind "hologram"')
})

it('it passes where errors of the guard are allowed', async () => {
  expect(await through(() => undefined)).toEqual([hologram])
})

it('a kind of part that guards do not know is one as well', async () => {
  await expect(mapTexts([{ type: 'hologram' } as never], whole)).rejects.toThrow(
    'does not know a part of the kind "hologram"',
  )
})
