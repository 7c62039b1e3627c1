import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { guard, memory, model, observe, tools } from 'allium'
import { metrics, trace } from 'allium/otel'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const read = (path: string) => readFileSync(`${root}${path}`, 'utf8')
/** What is written as code in a text. */
const named = (text: string) => [...text.matchAll(/`([\w.]+)`/g)].map(([, name]) => name)

/** What a pack exports and has a section of its own in its page. */
function layersOf(name: string, pack: object): string[] {
  const headings = [...read(`docs/packs/${name}.md`).matchAll(/^## (\w+)$/gm)].map(([, heading]) => heading)
  return Object.keys(pack).filter((key) => headings.includes(key))
}

describe.each([
  ['guard', guard],
  ['model', model],
  ['observe', { ...observe, metrics, trace }],
  ['tools', tools],
  ['memory', memory],
])('the pack %s', (name, pack) => {
  const layers = layersOf(name, pack).sort()

  it('has each of its layers in the table of the README, and no other', () => {
    const row = read('README.md').match(new RegExp(`^\\| \\[\`${name}\`\\]\\([^)]*\\) \\|(.*)\\|$`, 'm'))?.[1] ?? ''
    expect(named(row).sort()).toEqual(layers)
  })

  it('has each of them in its own README', () => {
    const intro = read(`packages/${name}/README.md`).split('```')[0] ?? ''
    expect(layers.filter((layer) => !named(intro).includes(layer))).toEqual([])
  })
})
