import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'

const execute = promisify(execFile)

interface Packument {
  'dist-tags': Record<string, string>
  versions: Record<string, { dist: { tarball: string } }>
  _attachments?: Record<string, { data: string }>
}

/** A registry on this machine. */
export interface Registry {
  url: string
  /** The environment in which npm uses it. */
  env: NodeJS.ProcessEnv
  /** Publishes a tarball with `npm publish`. Only a CI that npm knows can sign its provenance. */
  publish(tarball: string): Promise<void>
  /** Adds a tarball as it is. `npm publish` takes two seconds of CPU for each. */
  add(tarball: string): Promise<void>
  close(): void
}

/** Starts an npm registry in memory. It redirects to npm's registry for packages that were not published to it. */
export async function startRegistry(): Promise<Registry> {
  const { stdout } = await execute('npm', ['config', 'get', 'registry'])
  const upstream = stdout.trim()
  const packuments = new Map<string, Packument>()
  const tarballs = new Map<string, Buffer>()
  const server = createServer((request, response) => {
    answer(request, response).catch((error) => response.writeHead(500).end(String(error)))
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const url = `http://${host}/`

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = decodeURIComponent((request.url ?? '/').slice(1))
    const json = (value: object) => response.setHeader('content-type', 'application/json').end(JSON.stringify(value))
    const tarball = tarballs.get(path)
    const packument = packuments.get(path)
    if (request.method === 'PUT') {
      store(path, JSON.parse(await textOf(request)))
      json({ ok: true })
    } else if (tarball !== undefined) response.end(tarball)
    else if (packument !== undefined) json(packument)
    else response.writeHead(302, { location: new URL(request.url ?? '/', upstream).href }).end()
  }

  function store(name: string, { _attachments: attachments = {}, ...published }: Packument): void {
    for (const manifest of Object.values(published.versions))
      manifest.dist.tarball = url + new URL(manifest.dist.tarball).pathname.slice(1)
    for (const [file, { data }] of Object.entries(attachments))
      tarballs.set(`${name}/-/${file}`, Buffer.from(data, 'base64'))
    const stored = packuments.get(name)
    packuments.set(name, { ...published, versions: { ...stored?.versions, ...published.versions } })
  }

  const folder = mkdtempSync(join(tmpdir(), 'allium-registry-'))
  const npmrc = join(folder, 'npmrc')
  writeFileSync(npmrc, `registry=${url}\n//${host}/:_authToken=none\naudit=false\nfund=false\nprefer-offline=true\n`)
  const env: NodeJS.ProcessEnv = { ...process.env, npm_config_userconfig: npmrc, npm_config_registry: url }
  return {
    url,
    env,
    add: async (tarball) => {
      const { stdout: text } = await execute('tar', ['-xOzf', tarball, 'package/package.json'])
      const { name, version, ...manifest } = JSON.parse(text)
      const [file, data] = [basename(tarball), readFileSync(tarball)]
      const dist = {
        tarball: `${url}${name}/-/${file}`,
        integrity: `sha512-${createHash('sha512').update(data).digest('base64')}`,
      }
      store(name, {
        'dist-tags': { latest: version },
        versions: { [version]: { name, version, ...manifest, dist } },
        _attachments: { [file]: { data: data.toString('base64') } },
      })
    },
    publish: async (tarball) =>
      void (await execute('npm', ['publish', tarball, '--provenance=false'], { env, cwd: folder })),
    close: () => {
      server.close()
      rmSync(folder, { recursive: true })
    },
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
