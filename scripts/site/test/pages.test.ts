import { describe, expect, test } from 'vitest'
import { readPrograms } from '../../../docs/test/programs.ts'
import { completeFences, plainFences } from '../src/fences.ts'
import { type LinkTargets, rewriteLinks } from '../src/links.ts'
import { llmsFull, llmsIndex, plainPage } from '../src/llms.ts'
import { readSections } from '../src/navigation.ts'
import { sitePages, urlOf } from '../src/site-pages.ts'

const pages = new Map(sitePages().map((page) => [page.path, page]))
const targets: LinkTargets = { pages, repository: 'https://example.com/allium', ending: '' }
const page = [
  'Text.',
  '<!-- setup',
  "import { Agent } from 'allium'",
  '-->',
  '',
  '```ts',
  'const agent = new Agent({ model })',
  '```',
  '```ts continues',
  'await agent.dispose()',
  '```',
  '```text output',
  'done',
  '```',
]

describe('a fence of the site', () => {
  test('has the setup and the fences before it, as lines to fold', () => {
    expect(completeFences(page).join('\n')).toBe(
      `Text.
\`\`\`ts hidden=1
import { Agent } from 'allium'
const agent = new Agent({ model })
\`\`\`
\`\`\`ts hidden=2
import { Agent } from 'allium'
const agent = new Agent({ model })
await agent.dispose()
\`\`\`
\`\`\`text
done
\`\`\``,
    )
  })

  test('shows its setup in the plain copy, and says that it continues', () => {
    const plain = plainFences(page).join('\n')
    expect(plain).toContain("```ts\nimport { Agent } from 'allium'\nconst agent")
    expect(plain).toContain('```ts\n// Continues the program above.\nawait agent.dispose()')
  })

  test.each([...pages.values()].map((page) => [page.path, page] as const))(
    'is the program that is compiled and run with the docs: %s',
    (_, page) => {
      const fences = [
        ...completeFences(page.lines)
          .join('\n')
          .matchAll(/^```tsx?\b.*\n([\s\S]*?)^```$/gm),
      ]
      const shown = new Set(fences.map(([, code]) => withoutBlanks(code as string)))
      for (const { code } of readPrograms(page)) expect(shown).toContain(withoutBlanks(code))
    },
  )
})

describe('a link of the site', () => {
  test.each([
    ['docs/guide/stores.md', '[A](durable.md#limits)', '[A](/guide/durable#limits)'],
    ['docs/README.md', '[B](../packages/hooks/README.md)', '[B](/packages/hooks)'],
    ['docs/README.md', '[Dirs](decisions/README.md)', '[Dirs](/decisions/)'],
    [
      'docs/guide/stores.md',
      '[src](../../packages/core/src)',
      '[src](https://example.com/allium/blob/main/packages/core/src)',
    ],
    ['README.md', '![Onion](docs/images/onion.svg)', '![Onion](/images/onion.svg)'],
    ['README.md', '[spec](https://a2a.dev)', '[spec](https://a2a.dev)'],
    ['docs/guide/stores.md', '[two\nlines](durable.md)', '[two\nlines](/guide/durable)'],
  ])('in %s: %s', (from, before, after) => {
    expect(rewriteLinks(before.split('\n'), from, targets).join('\n')).toBe(after)
  })

  test('to a source is text where the repository has no address', () => {
    const lines = rewriteLinks(['See [core](../packages/core/src).'], 'docs/README.md', {
      ...targets,
      repository: undefined,
    })
    expect(lines).toEqual(['See core.'])
  })
})

describe('the pages for programs', () => {
  const sections = readSections(pages.get('docs/README.md')?.lines ?? [], pages)

  test('list each page of docs/README.md with what it is about', () => {
    const index = llmsIndex('Onion middleware.', sections)
    expect(index).toMatch(/^# Allium\n\n> Onion middleware\./)
    expect(index).toContain('- [Steering](/guide/steering.md): send a message to a running turn')
  })

  test('contain each page of the guide, the concepts and the packs once, without hidden code', () => {
    const full = llmsFull(sections, targets)
    const titles = [...pages.values()].filter(({ path }) => /^docs\/(guide|concepts|packs)\//.test(path))
    for (const { path, lines } of titles) {
      const title = lines.find((line) => line.startsWith('# ')) as string
      expect(full.split('\n').filter((line) => line === title).length, path).toBeGreaterThan(0)
    }
    expect(full).not.toMatch(/<!-- setup|^```ts \w/m)
  })

  test('link to plain pages', () => {
    const stores = plainPage(pages.get('docs/guide/stores.md') as never, targets)
    const links = [...stores.matchAll(/\]\((\/[^)#]+)/g)].map(([, to]) => to)
    const files = [...pages.values()].map(({ file }) => `/${file}`)
    expect(links.length).toBeGreaterThan(5)
    expect(links.filter((link) => !files.includes(link as string))).toEqual([])
  })
})

test.each([
  ['guide/stores.md', '/guide/stores'],
  ['decisions/index.md', '/decisions/'],
  ['index.md', '/'],
])('the address of %s is %s', (file, url) => {
  expect(urlOf(file)).toBe(url)
})

function withoutBlanks(code: string): string {
  return code
    .split('\n')
    .filter((line) => line.trim() !== '')
    .join('\n')
}
