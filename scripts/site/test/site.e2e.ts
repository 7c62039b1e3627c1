import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import axe from 'axe-core'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { headless } from '../../../e2e/headless.ts'
import { completeFences } from '../src/fences.ts'
import { readOldAddresses } from '../src/old-addresses.ts'
import { sitePages } from '../src/site-pages.ts'
import { serve } from './serve.ts'

/** `npm run docs:check` visits every page, and CI a tenth of them. */
const everyPage = process.env.ALLIUM_EVERY_PAGE !== undefined
const oldAddresses = readOldAddresses(new Map(sitePages().map((page) => [page.path, page])))
const dist = fileURLToPath(new URL('../dist', import.meta.url))
let site: Awaited<ReturnType<typeof serve>>
let browser: Browser

/** Builds the site if it is older than its pages. */
beforeAll(async () => {
  execFileSync('npm', ['run', 'docs'], { stdio: 'ignore' })
  site = await serve(dist)
  browser = await chromium.launch(headless)
}, 300_000)

afterAll(async () => {
  await browser.close()
  site.close()
})

test('pages of text are accessible on a phone, and no wider than their window', async () => {
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.html'))
  expect(files.length).toBeGreaterThan(150)
  // The API pages are made by one template, and two of them stand for all.
  const others = new Set(['404.html', ...oldAddresses.map(({ file }) => `${file}.html`)])
  const articles = files.filter((file) => !others.has(file) && !/^api\/(?!.*(hooks|client))/.test(file))
  const visited = everyPage ? articles : articles.sort().filter((_, at) => at % 10 === 0)
  // Each page has the frame, the scripts and the colors of its kind, which the next test looks at.
  const run = "axe.run('main', { rules: { 'color-contrast': { enabled: false } }, resultTypes: ['violations'] })"
  expect(await visitAll(visited, { viewport: { width: 390, height: 844 } }, { run, hasScripts: false })).toEqual([])
}, 600_000)

test.each<[string, BrowserContextOptions]>([
  ['on a screen, in the dark', { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' }],
  ['on a phone, in the light', { viewport: { width: 390, height: 844 }, colorScheme: 'light' }],
])(
  'pages of each kind are accessible %s',
  async (_, options) => {
    const kinds = [
      'index',
      'overview',
      'concepts/next',
      'guide/deploy',
      'packs/guard/budget',
      'api/@allium/hooks',
      '404',
    ]
    const files = kinds.map((kind) => `${kind}.html`)
    expect(await visitAll(files, options)).toEqual([])
  },
  240_000,
)

test('a reader moves the layers of the onion, and sees another trace', async () => {
  const page = await open({})
  await page.goto(site.url)
  const trace = page.locator('.onion .trace')
  await expect.poll(() => trace.textContent()).toContain('log logs "Please write to dana@acme.com."')
  for (let moves = 0; moves < 3; moves++) await page.getByRole('button', { name: 'Move redact outwards' }).click()
  await expect.poll(() => trace.textContent()).toContain('log logs "Please write to [email]."')
  await expect.poll(() => trace.textContent()).toContain('The log contains 1 line, without the address.')
})

test('an old address leads to the page that has its content now', async () => {
  for (const { file, url, page } of oldAddresses) {
    expect(await (await fetch(`${site.url}/${file}`)).text(), file).toContain(`url=${url}"`)
    expect((await fetch(site.url + url)).status, url).toBe(200)
    expect(await (await fetch(`${site.url}/${file}.md`)).text()).toContain(`(/${page.file})`)
  }
})

test('the address of a heading that moved to another page leads there', async () => {
  const page = await open({})
  await page.goto(`${site.url}/guide/stores#encryption`)
  await expect.poll(() => page.url()).toBe(`${site.url}/guide/stores/encryption`)
})

test('a search finds a page', async () => {
  const page = await open({})
  await page.goto(site.url)
  await page.getByRole('button', { name: 'Search' }).first().click()
  await page.getByRole('searchbox').fill('skipCall')
  await page.locator('.VPLocalSearchBox .result').first().click()
  await expect.poll(() => page.locator('h1').textContent()).not.toBe('')
})

test('a copied fence has its setup, which the page folds', async () => {
  const page = await open({})
  const next = sitePages().find(({ path }) => path === 'docs/concepts/next.md')
  await page.goto(`${site.url}/concepts/next`)
  const first = page.locator('.language-ts:has(.setup-lines)').first()
  expect(await first.locator('.setup-lines').isVisible()).toBe(false)
  const fences = completeFences(next?.lines ?? []).join('\n')
  const copied = (await first.locator('code').textContent())?.trimEnd() as string
  expect(copied).toContain('import ')
  expect(fences).toContain(copied)
  await page.locator('.fold input').first().check()
  expect(await first.locator('.setup-lines').isVisible()).toBe(true)
})

test('a program without a browser reads the index and plain pages', async () => {
  const index = await (await fetch(`${site.url}/llms.txt`)).text()
  const paths = [...index.matchAll(/\]\((\/[^)]+)\)/g)].map(([, path]) => path as string)
  expect(paths.length).toBeGreaterThan(60)
  for (const path of paths) {
    const text = await (await fetch(site.url + path)).text()
    expect(text, path).toMatch(/^# /m)
    expect(text, path).not.toMatch(/<!-- setup|^```ts \w/m)
  }
})

/** Visits the pages, two at a time, and returns what is wrong with each. */
async function visitAll(
  files: readonly string[],
  options: BrowserContextOptions,
  { run = 'axe.run()', hasScripts = true } = {},
): Promise<string[]> {
  const [left, findings] = [[...files], [] as string[]]
  const visitNext = async (page: Page) => {
    for (let file = left.pop(); file !== undefined; file = left.pop()) {
      await page.goto(`${site.url}/${file}`, { waitUntil: 'domcontentloaded' })
      await page.locator('main h1').first().waitFor()
      findings.push(...(await problemsOf(page, run)).map((problem) => `${file}: ${problem}`))
    }
  }
  const pages = await Promise.all([open(options), open(options)])
  if (!hasScripts) for (const page of pages) await page.route('**/*.{js,woff2}', (route) => route.abort())
  await Promise.all(pages.map(visitNext))
  return findings
}

async function open(options: BrowserContextOptions): Promise<Page> {
  const context = await browser.newContext(options)
  onTestFinished(() => context.close())
  const page = await context.newPage()
  await page.addInitScript(axe.source)
  return page
}

async function problemsOf(page: Page, run: string): Promise<string[]> {
  const { violations } = (await page.evaluate(run)) as axe.AxeResults
  const element = 'document.documentElement'
  const wide = (await page.evaluate(`${element}.scrollWidth - ${element}.clientWidth`)) as number
  const found = violations.map(
    ({ id, nodes }) =>
      `${id} at ${nodes
        .map(({ target }) => target)
        .slice(0, 3)
        .join(', ')}`,
  )
  return wide > 0 ? [...found, `${wide} px too wide`] : found
}
