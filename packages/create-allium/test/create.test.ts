import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'
import { main } from '../src/main.ts'

const templatesDir = fileURLToPath(new URL('../templates', import.meta.url))

/** Runs the command in an empty folder, where nobody can answer prompts. */
function folder(tarballs?: string) {
  const cwd = mkdtempSync(join(tmpdir(), 'create-allium-'))
  onTestFinished(() => rmSync(cwd, { recursive: true }))
  const output: string[] = []
  const write = (text: unknown) => output.push(String(text)) > 0
  for (const spied of [
    vi.spyOn(process.stdout, 'write').mockImplementation(write),
    vi.spyOn(console, 'log').mockImplementation(write),
    vi.spyOn(console, 'error').mockImplementation(write),
  ])
    onTestFinished(() => spied.mockRestore())
  const create = (...argv: string[]) =>
    main([...argv, '--no-install', '--no-git'], {
      cwd,
      interactive: false,
      userAgent: undefined,
      templatesDir,
      tarballs,
    })
  const read = (path: string) => readFileSync(join(cwd, path), 'utf8')
  return { cwd, create, read, said: () => output.join('\n') }
}

test('creates the template "agent" with OpenAI unless told otherwise', async () => {
  const { create, read, said } = folder()
  expect(await create('my-app', '--yes')).toBe(0)
  expect(JSON.parse(read('my-app/package.json'))).toMatchObject({ name: 'my-app', private: true })
  expect(read('my-app/README.md')).toMatch(/^# my-app\n/)
  expect(read('my-app/.env.example')).toContain('OPENAI_API_KEY=')
  expect(said()).toContain('cd my-app')
})

test.each([
  ['anthropic', 'ANTHROPIC_API_KEY', 'anthropic/claude-sonnet-4-6'],
  ['google', 'GOOGLE_GENERATIVE_AI_API_KEY', 'google/gemini-2.5-flash'],
])('uses the package, key and model of %s everywhere', async (provider, key, model) => {
  const { create, read } = folder()
  await create('app', '--template', 'saas', '--provider', provider)
  expect(Object.keys(JSON.parse(read('app/package.json')).dependencies)).toContain(`@ai-sdk/${provider}`)
  expect(read('app/src/model.ts')).toContain(`if (env.${key}) return { model: '${model}'`)
  for (const path of ['package.json', 'src/model.ts', '.env.example', 'README.md'])
    expect(read(`app/${path}`)).not.toMatch(/openai/i)
})

test('names the command that installs the packages, which are tarballs in a clone', async () => {
  const published = folder()
  await published.create('app', '--yes')
  expect(published.said()).toMatch(/npm install +│/)
  const cloned = folder(join(tmpdir(), 'allium', 'tarballs'))
  await cloned.create('app', '--yes')
  expect(cloned.said()).toContain('npm install ../../allium/tarballs/*.tgz')
  await cloned.create('pack', '--template', 'pack')
  expect(cloned.said()).toContain('npm install --save-dev ../../allium/tarballs/*.tgz')
})

test('names the command that opens the inspector, which the server of a SaaS does not open', async () => {
  const { create, read, said } = folder()
  await create('app', '--template', 'saas')
  expect(said()).toMatch(/npm run dev[\s\S]*In a second terminal, npm run inspect opens the inspector\./)
  expect(JSON.parse(read('app/package.json')).scripts.inspect).toBe('allium dev src/inspector.ts')
})

test('gives files their real names that npm leaves out of packages', async () => {
  const { cwd, create, read } = folder()
  await create('app', '--template', 'saas')
  expect(read('app/.gitignore').split('\n')).toEqual(expect.arrayContaining(['node_modules', '.env', '.data']))
  expect(read('app/.dockerignore').split('\n')).toEqual(expect.arrayContaining(['node_modules', '.env', '.data']))
  expect(existsSync(join(cwd, 'app/biome.json'))).toBe(true)
  expect(existsSync(join(cwd, 'app/_gitignore'))).toBe(false)
})

test('makes a valid package name of any directory name', async () => {
  const { create, read } = folder()
  await create('My Größe, 2')
  expect(JSON.parse(read('My Größe, 2/package.json')).name).toBe('my-gr-e-2')
})

test('fills in a project below a directory whose name contains .git', async () => {
  const { create, read } = folder()
  await create('acme.github.io/app')
  expect(JSON.parse(read('acme.github.io/app/package.json')).name).toBe('app')
  expect(read('acme.github.io/app/.gitignore')).toContain('node_modules')
})

test('changes nothing in a directory that is not empty', async () => {
  const { cwd, create, said } = folder()
  writeFileSync(join(cwd, 'notes.txt'), '')
  expect(await create('.', '--yes')).toBe(2)
  expect(said()).toContain('is not empty: it contains notes.txt. Choose another directory.')
  expect(existsSync(join(cwd, 'package.json'))).toBe(false)
})

test.each([
  [['app', '--template', 'sass'], 'Unknown template "sass". Choose one of: agent, saas, pack.'],
  [['app', '--provider', 'acme'], 'Unknown provider "acme". Choose one of: openai, anthropic, google.'],
  [['app', 'other'], 'Too many directories: app, other. Pass one directory.'],
  [['app', '--templates', 'saas'], "Unknown option '--templates'"],
  [[], 'No directory given. Pass one: npm create allium@latest my-app'],
])('explains the mistake in %j', async (argv, message) => {
  const { create, said } = folder()
  expect(await create(...argv)).toBe(2)
  expect(said()).toContain(message)
})
