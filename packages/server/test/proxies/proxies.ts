import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, vi } from 'vitest'
import { freePort } from '../../../../e2e/free-port.ts'
import { recipe } from '../../../../e2e/recipes.ts'

/** A configuration, and the command that reads it in the foreground. */
interface Setup {
  config: string
  command(file: string, folder: string, port: number): string[]
}

/** The recipes of docs/guide/deploy/proxies.md and node.md, with what a process of its own needs around them. */
const setups: Record<string, (folder: string, port: number) => Setup> = {
  nginx: (folder, port) => nginx(folder, port, recipe('node', 'nginx', 'nginx')),
  'nginx with a cache': (folder, port) =>
    nginx(
      folder,
      port,
      `proxy_cache all; proxy_cache_valid any 10m; ${recipe('node', 'nginx', 'nginx')}`.replace(
        'proxy_buffering off;',
        '',
      ),
      `proxy_cache_path ${folder}/cache keys_zone=all:1m;`,
    ),
  HAProxy: () => ({
    config: `defaults\n  mode http\n  timeout connect 5s\n  timeout client 50s\n  timeout server 50s\n${recipe('proxies', 'HAProxy', 'haproxy')}`,
    command: (file) => ['haproxy', '-f', file, '-db'],
  }),
  Apache: (folder, port) => ({
    config: [
      `ServerName localhost\nServerRoot ${folder}\nDefaultRuntimeDir ${folder}\nPidFile ${folder}/pid\nErrorLog ${folder}/log`,
      `Mutex file:${folder} default\nUser www-data\nGroup www-data\nListen 127.0.0.1:${port}`,
      ...['mpm_event', 'authz_core', 'proxy', 'proxy_http'].map(
        (name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`,
      ),
      recipe('proxies', 'Apache', 'apache'),
    ].join('\n'),
    command: (file) => ['apache2', '-DFOREGROUND', '-f', file],
  }),
  Caddy: (_, port) => ({
    config: `{\n  admin off\n  auto_https off\n}\nhttp://:${port} {\n  bind 127.0.0.1\n  ${recipe('proxies', 'Caddy', 'caddy')}}\n`,
    command: (file) => ['caddy', 'run', '--config', file, '--adapter', 'caddyfile'],
  }),
  Varnish: () => varnish(recipe('proxies', 'Varnish', 'vcl')),
  'Varnish without a recipe': () => varnish('vcl 4.1; backend default { .host = "127.0.0.1"; .port = "3000"; }'),
  squid: (folder) => ({
    config: [
      recipe('proxies', 'squid', 'squid'),
      'http_access allow all\nvisible_hostname localhost\npinger_enable off\nshutdown_lifetime 0 seconds\ncache_effective_user proxy',
      `pid_filename ${folder}/pid\ncache_log ${folder}/log\naccess_log none\ncoredump_dir ${folder}`,
    ].join('\n'),
    command: (file, _, port) => ['squid', '-N', '-n', `allium${port}`, '-f', file],
  }),
  lighttpd: (folder, port) => ({
    config: `server.document-root = "${folder}"\nserver.bind = "127.0.0.1"\nserver.port = ${port}\n${recipe('proxies', 'lighttpd', 'lighttpd')}`,
    command: (file) => ['lighttpd', '-D', '-f', file],
  }),
  h2o: (_, port) => ({
    config: [
      `user: root\nlisten:\n  host: 127.0.0.1\n  port: ${port}\nhosts:\n  default:\n    paths:\n      /:`,
      recipe('proxies', 'h2o', 'yaml').replace(/^(?=.)/gm, '        '),
    ].join('\n'),
    command: (file) => ['h2o', '-c', file],
  }),
}

/** Registers what is to be done when the test has ended. Concurrent tests each have their own. */
export type OnEnd = (end: () => Promise<void>) => void

export const proxied = ['nginx', 'HAProxy', 'Apache', 'Caddy', 'Varnish', 'squid', 'lighttpd', 'h2o']

/** Starts a proxy in front of a port, until the test ends. Returns its URL. */
export async function startProxy(name: string, upstream: number, onEnd: OnEnd): Promise<string> {
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'allium-proxy-'))
  // Some proxies give up the rights of root.
  chmodSync(folder, 0o755)
  chownSync(folder, ...ownerOf(name === 'squid' ? 'proxy' : 'www-data'))
  const { config, command } = setups[name]?.(folder, port) ?? { config: '', command: () => [] }
  const file = join(folder, 'config')
  const atPorts = config.replaceAll(/127\.0\.0\.1:80\b/g, `127.0.0.1:${port}`).replaceAll(/\b3000\b/g, `${upstream}`)
  writeFileSync(file, atPorts, { mode: 0o644 })
  const [program = '', ...args] = command(file, folder, port)
  const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => (output += piece))
  onEnd(async () => {
    child.kill('SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), 5000)
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    clearTimeout(timer)
    rmSync(folder, { recursive: true, force: true })
  })
  // Not `expect.poll`, which fails while another concurrent test ends.
  const isReady = async () => expect(await statusAt(port), `${name} does not start: ${output}`).toBe(200)
  await vi.waitFor(isReady, { timeout: 30_000 })
  return `http://127.0.0.1:${port}`
}

function statusAt(port: number): Promise<number> {
  return new Promise((resolve) => {
    const asked = request({ host: '127.0.0.1', port, path: '/healthz', headers: { host: 'api.acme.com' } })
    asked.once('response', (response) => resolve(response.resume().statusCode ?? 0))
    asked.once('error', () => resolve(0))
    asked.end()
  })
}

function ownerOf(user: string): [number, number] {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((one) => one.startsWith(`${user}:`))
  const [, , uid, gid] = line?.split(':') ?? []
  return [Number(uid), Number(gid)]
}

function nginx(folder: string, port: number, location: string, http = ''): Setup {
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  const site = `server { listen 127.0.0.1:${port}; ${location} }`
  return {
    config: `user root; error_log stderr; pid ${folder}/pid; daemon off; events {} http { access_log off; ${http} ${paths.join(' ')} ${site} }`,
    command: (file) => ['nginx', '-c', file, '-e', 'stderr'],
  }
}

function varnish(config: string): Setup {
  return {
    config,
    command: (file, folder, port) => [
      'varnishd',
      '-F',
      '-a',
      `127.0.0.1:${port}`,
      '-f',
      file,
      '-n',
      `${folder}/varnish`,
      '-s',
      'malloc,8m',
    ],
  }
}
