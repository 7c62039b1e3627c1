import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, type AnyTool, type FilePart, type ImagePart, type Message, type Middleware } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type FilesOptions, files } from '../src/index.ts'

const bytes = (base64: string) => Uint8Array.from(Buffer.from(base64, 'base64'))
const png = bytes('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==')
const pdf = new TextEncoder().encode('%PDF-1.7\n1 0 obj\n<<>>\nendobj\n')
const text = (words: string) => new TextEncoder().encode(words)
const image = (data: ImagePart['data'], mediaType = 'image/png'): ImagePart => ({ type: 'image', data, mediaType })
const file = (data: FilePart['data'], mediaType: string, filename?: string): FilePart => ({
  type: 'file',
  data,
  mediaType,
  ...(filename !== undefined && { filename }),
})

async function send(parts: (ImagePart | FilePart)[], options: FilesOptions = {}) {
  const log: string[] = []
  const note = (message: string) => void log.push(message)
  const found: unknown[] = []
  const model = scriptedModel(['Seen.'])
  const agent = new Agent({ model, logger: { warn: note, error: note } }).use(files(options))
  agent.on('guard:found', (event) => found.push(event.found))
  const input: Message = { role: 'user', content: [{ type: 'text', text: 'Look' }, ...parts] }
  const { status, reason } = await agent.run(input)
  return { status, reason, found, log, calls: model.calls }
}

describe('guard.files, files of users', () => {
  it.each<[string, ImagePart | FilePart]>([
    ['an image', image(png)],
    ['an image as base64', image(Buffer.from(png).toString('base64'))],
    ['an image as a data URL', image(`data:image/png;base64,${Buffer.from(png).toString('base64')}`)],
    ['an image by another name of its type', image(png, 'IMAGE/X-PNG; q=1')],
    ['a PDF', file(pdf, 'application/pdf', 'report.pdf')],
    ['a text', file(text('Grüße, 🧅'), 'text/plain')],
    ['a text that begins like a picture', file(text('BMW is a car.'), 'text/plain')],
    ['no bytes at all, as text', file(text(''), 'text/plain')],
  ])('lets %s through', async (_, part) => {
    expect(await send([part])).toMatchObject({ status: 'completed', calls: 1 })
  })

  it('passes inputs without files', async () => {
    expect((await send([])).status).toBe('completed')
  })

  it.each<[string, ImagePart | FilePart]>([
    ['a PDF that says it is a picture', image(pdf)],
    ['a picture of another kind', image(png, 'image/jpeg')],
    ['a text that says it is a picture', image(text('hello'))],
    ['a program that says it is a text', file(new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0]), 'text/plain')],
    ['a PDF that says it is a text', file(pdf, 'text/plain')],
    ['bytes that are no UTF-8 and say they are text', file(new Uint8Array([0xff, 0xfe, 0xfd]), 'text/plain')],
    ['a type that is not allowed', file(text('<script>'), 'text/html')],
    ['no type', file(png, '')],
    ['what is no base64', image('%%%')],
  ])('blocks %s before the model is asked', async (_, part) => {
    expect(await send([part])).toMatchObject({ status: 'blocked', found: ['type'], calls: 0 })
  })

  it('says which file, and why', async () => {
    const { reason } = await send([file(text('hello'), 'application/pdf', 'report.pdf')])
    expect(reason).toBe('The file "report.pdf" does not match its declared type "application/pdf".')
  })

  it.each<[string, FilesOptions, string]>([
    ['more files than may come at once', { maxFiles: 1 }, 'count'],
    ['a file that is too large', { maxBytes: 10 }, 'size'],
    ['an extension that is not allowed', { extensions: ['jpg'] }, 'extension'],
  ])('blocks %s', async (_, options, found) => {
    const both = [file(png, 'image/png', 'a.png'), image(Buffer.from(png).toString('base64'))]
    expect(await send(both, options)).toMatchObject({ status: 'blocked', found: [found] })
  })

  it('takes the last extension, in any case', async () => {
    const named = (name: string) => send([file(png, 'image/png', name)], { extensions: ['.png'] })
    expect((await named('a.exe.PNG')).status).toBe('completed')
    for (const name of ['a.png.exe', '.png', 'png', 'a.png.']) expect((await named(name)).status).toBe('blocked')
  })

  it.each(['https://a.test/x.png', new URL('https://a.test/x.png'), 'http://a.test/x.png', 'file:///etc/passwd'])(
    'blocks what is behind a URL, where nobody has looked: %s',
    async (url) => {
      expect(await send([image(url)])).toMatchObject({ status: 'blocked', found: ['url'] })
    },
  )

  it('lets https URLs through where it is told to, and no others', async () => {
    const options: FilesOptions = { onUrl: 'allow' }
    expect((await send([image('https://a.test/x.png')], options)).status).toBe('completed')
    for (const url of ['http://a.test/x.png', 'file:///etc/passwd'])
      expect((await send([image(url)], options)).status).toBe('blocked')
  })

  it('knows a family of types', async () => {
    expect((await send([image(png)], { types: ['image/*'] })).status).toBe('completed')
    expect((await send([file(pdf, 'application/pdf')], { types: ['image/*'] })).status).toBe('blocked')
  })

  it('blocks what it cannot check, and tells the log why', async () => {
    const broken = { type: 'image', mediaType: 'image/png', data: { toString: null } } as unknown as ImagePart
    const turn: Middleware = {
      name: 'brings',
      turn(ctx, next) {
        ctx.input = [{ role: 'user', content: [broken] }]
        return next()
      },
    }
    const log: string[] = []
    const logger = { warn: () => {}, error: (message: string) => void log.push(message) }
    const agent = new Agent({ model: scriptedModel([]), logger }).use(turn).use(files())
    expect(await agent.run('hi')).toMatchObject({ status: 'blocked', reason: '"guard:files" could not check this.' })
    expect(log).toHaveLength(1)
  })

  it.each<[FilesOptions]>([
    [{ maxBytes: 0 }],
    [{ maxFiles: 0 }],
    [{ pathArgs: { read: ['path'] } }],
    [{ root: '/tmp' }],
    [{ timeout: 0 }],
  ])('refuses %j', (options) => {
    expect(() => files(options)).toThrow(expect.objectContaining({ code: 'layer.config' }))
  })
})

describe('guard.files, paths in arguments', () => {
  it('gives the tool the path that was checked: absolute, its links resolved', async () => {
    const { call, root } = await folder()
    expect((await call({ path: 'notes/a.txt' })).opened).toEqual([{ path: join(root, 'notes/a.txt') }])
    expect((await call({ path: './link-inside.txt' })).opened).toEqual([{ path: join(root, 'notes/a.txt') }])
  })

  it('leaves the argument as it is where it is told to', async () => {
    const { call } = await folder({ resolve: false })
    expect((await call({ path: 'notes/a.txt' })).opened).toEqual([{ path: 'notes/a.txt' }])
  })

  it('lets a folder through, and a file that is to be made', async () => {
    const { call, root } = await folder()
    expect((await call({ path: 'notes' })).opened).toEqual([{ path: join(root, 'notes') }])
    expect((await call({ path: 'notes/new/b.txt' })).opened).toEqual([{ path: join(root, 'notes/new/b.txt') }])
  })

  it.each([
    '../secret.txt',
    'notes/../../secret.txt',
    'notes/..',
    '..',
    '/etc/passwd',
    '//server/share/a.txt',
    '\\\\server\\share\\a.txt',
    'C:/a.txt',
    'c:a.txt',
    'notes\\..\\..\\secret.txt',
    'file:///etc/passwd',
    '~/a.txt',
    '%2e%2e/secret.txt',
    'notes/%00.txt',
    'a.txt\0.png',
    'notes/a.txt\n',
    '．．/secret.txt',
    'notes/a.txt::$DATA',
    'notes/a.txt.',
    'notes /a.txt',
    'notes/NUL.txt',
    '',
    ' ',
    7,
    null,
    { path: 'a.txt' },
    'x'.repeat(5_000),
  ])('denies %j, and the tool does not run', async (path) => {
    const { call } = await folder()
    expect(await call({ path })).toMatchObject({
      status: 'denied',
      opened: [],
      content: 'The argument "path" of "read" is no plain path below the folder.',
    })
  })

  it.each(['link-outside.txt', 'linked-folder/secret.txt', 'linked-folder/new.txt'])(
    'denies a path that leaves by a link: %s',
    async (path) => {
      const { call } = await folder()
      expect(await call({ path })).toMatchObject({
        status: 'denied',
        content: expect.stringContaining('leads out of the folder'),
      })
    },
  )

  it('denies a link that leads nowhere, through which a file could be made', async () => {
    const { call } = await folder()
    expect(await call({ path: 'dangling.txt' })).toMatchObject({
      status: 'denied',
      content: expect.stringContaining('is a link that leads nowhere'),
    })
  })

  it('denies a folder that only begins like the root', async () => {
    const { call, root } = await folder()
    await mkdir(`${root}-evil`)
    onTestFinished(() => rm(`${root}-evil`, { recursive: true }))
    await symlink(`${root}-evil`, join(root, 'evil'))
    expect((await call({ path: 'evil' })).status).toBe('denied')
  })

  it('denies an extension that is not allowed, also behind a link of another name', async () => {
    const { call, root } = await folder({ extensions: ['txt'] })
    await writeFile(join(root, 'key.pem'), 'key')
    await symlink(join(root, 'key.pem'), join(root, 'key.txt'))
    const statuses = []
    for (const path of ['notes/a.txt', 'key.pem', 'key.txt', '.env', 'new.TXT'])
      statuses.push((await call({ path })).status)
    expect(statuses).toEqual(['ok', 'denied', 'denied', 'denied', 'ok'])
  })

  it('denies a file that is too large', async () => {
    const { call } = await folder({ maxBytes: 3 })
    expect((await call({ path: 'notes/a.txt' })).content).toContain('is larger than 3 bytes')
  })

  it('checks each path of a list, and arguments within others', async () => {
    const { call, root } = await folder({ pathArgs: { read: ['paths', 'in.file'] } })
    const good = { paths: ['notes/a.txt', 'notes'], in: { file: 'notes/a.txt', other: 1 } }
    expect((await call(good)).opened).toEqual([
      { paths: [join(root, 'notes/a.txt'), join(root, 'notes')], in: { file: join(root, 'notes/a.txt'), other: 1 } },
    ])
    expect((await call({ paths: ['notes/a.txt', '../secret.txt'] })).status).toBe('denied')
    expect((await call({ in: { file: '/etc/passwd' } })).status).toBe('denied')
    expect((await call({ in: [{ file: 'notes/a.txt' }, { file: '/etc/passwd' }] })).status).toBe('denied')
    expect((await call({ in: [{ file: 'notes' }] })).opened).toEqual([{ in: [{ file: join(root, 'notes') }] }])
  })

  it('leaves other tools and other arguments alone, and paths that are not given', async () => {
    const { call } = await folder()
    expect((await call({ note: '/etc/passwd' })).opened).toEqual([{ note: '/etc/passwd' }])
    const { call: other } = await folder({ pathArgs: { 'write_*': ['path'] } })
    expect((await other({ path: '/etc/passwd' })).status).toBe('ok')
  })

  it('denies, whatever onError says, where the folder cannot be read, and tells the log', async () => {
    const { call, root, log } = await folder({ onError: 'allow' })
    await rm(root, { recursive: true })
    expect(await call({ path: 'a.txt' })).toMatchObject({
      status: 'denied',
      content: expect.stringContaining('could not be checked'),
    })
    expect(log).toHaveLength(1)
  })

  it('lets a call run that a person has approved', async () => {
    const { agent, opened, root } = await folder({}, [], { requireApproval: true })
    const session = agent({ path: 'notes/a.txt' }).session()
    const { pending } = await session.run('go')
    await session.resume({ [String(pending[0]?.callId)]: { approve: true } })
    expect(opened).toEqual([{ path: join(root, 'notes/a.txt') }])
  })

  it('denies what a person has changed to a path outside', async () => {
    const { agent, opened } = await folder({}, [], { requireApproval: true })
    const session = agent({ path: 'notes/a.txt' }).session()
    const { pending } = await session.run('go')
    await session.resume({ [String(pending[0]?.callId)]: { args: { path: '../secret.txt' } } })
    expect(opened).toEqual([])
  })

  it('sees what layers outside made of the arguments', async () => {
    const change: Middleware = {
      name: 'change',
      tool(ctx, next) {
        ctx.modifyArgs({ path: '/etc/passwd' })
        return next()
      },
    }
    const { call } = await folder({}, [change])
    expect((await call({ path: 'notes/a.txt' })).status).toBe('denied')
  })
})

/** A folder with a file, beside a secret that links lead to; and a tool that opens paths. */
async function folder(options: FilesOptions = {}, outside: Middleware[] = [], tool: Partial<AnyTool> = {}) {
  const around = await realpath(await mkdtemp(join(tmpdir(), 'allium-files-')))
  onTestFinished(() => rm(around, { recursive: true, force: true }))
  const root = join(around, 'root')
  await mkdir(join(root, 'notes'), { recursive: true })
  await writeFile(join(around, 'secret.txt'), 'secret')
  await writeFile(join(root, 'notes/a.txt'), 'hello')
  await symlink(join(root, 'notes/a.txt'), join(root, 'link-inside.txt'))
  await symlink(join(around, 'secret.txt'), join(root, 'link-outside.txt'))
  await symlink(around, join(root, 'linked-folder'))
  await symlink(join(around, 'not-there.txt'), join(root, 'dangling.txt'))

  const log: string[] = []
  const logger = { warn: () => {}, error: (message: string) => void log.push(message) }
  const opened: unknown[] = []
  const read: AnyTool = {
    name: 'read',
    description: 'Reads',
    jsonSchema: {},
    execute: (args: Record<string, unknown>) => void opened.push(args),
    ...tool,
  }
  const agent = (args: Record<string, unknown>) =>
    new Agent({ model: scriptedModel([{ toolCalls: [{ name: 'read', args }] }, 'Done.']), logger, tools: [read] })
      .use(outside)
      .use(files({ root, pathArgs: { read: ['path'] }, ...options }))
  const call = async (args: Record<string, unknown>) => {
    opened.length = 0
    const { toolCalls } = await agent(args).run('go')
    return { ...toolCalls[0]?.result, opened: [...opened] }
  }
  return { root, log, agent, call, opened }
}
