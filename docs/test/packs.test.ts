import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { documents } from 'allium/documents'
import { handoff } from 'allium/group'
import * as guard from 'allium/guard'
import * as memory from 'allium/memory'
import * as model from 'allium/model'
import * as observe from 'allium/observe'
import { metrics, trace } from 'allium/otel'
import { promptCache } from 'allium/prompt-cache'
import { search } from 'allium/search'
import { skills } from 'allium/skills'
import * as tools from 'allium/tools'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const read = (path: string) => readFileSync(`${root}${path}`, 'utf8')
/** What is written as code in a text. */
const named = (text: string) => [...text.matchAll(/`([\w.]+)`/g)].map(([, name]) => name)

/** What a pack exports and has a section of its own in its page, or a page of its own. */
function layersOf(name: string, pack: object): string[] {
  const pages = [read(`docs/packs/${name}.md`), ...pagesIn(`docs/packs/${name}`)].join('\n')
  const headings = [...pages.matchAll(/^(?:## |# \w+\.)(\w+)$/gm)].map(([, heading]) => heading)
  return Object.keys(pack).filter((key) => headings.includes(key))
}

function pagesIn(folder: string): string[] {
  if (!existsSync(`${root}${folder}`)) return []
  return readdirSync(`${root}${folder}`).map((file) => read(`${folder}/${file}`))
}

describe.each([
  ['guard', guard],
  ['model', model],
  ['observe', { ...observe, metrics, promptCache, trace }],
  ['tools', { ...tools, handoff, search, skills }],
  ['memory', { ...memory, documents }],
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

it.each(readdirSync(`${root}docs/packs/guard`))(
  'docs/packs/guard/%s tells state, event, order and sub-agents in a table',
  (file) => {
    const rows = [...read(`docs/packs/guard/${file}`).matchAll(/^\| (state|event|order|sub-agents) \| \S/gm)]
    expect(rows.map(([, name]) => name)).toEqual(['state', 'event', 'order', 'sub-agents'])
  },
)
