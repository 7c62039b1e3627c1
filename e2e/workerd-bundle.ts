import { builtinModules } from 'node:module'
import { build, type Plugin } from 'esbuild'

const names = builtinModules.filter((name) => !name.startsWith('_')).join('|')

/** Leaves modules of Node to workerd, also where CommonJS requires them. */
const nodeModules: Plugin = {
  name: 'node-modules',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: new RegExp(`^(node:)?(${names})$`) }, ({ path, kind }) => {
      const name = path.startsWith('node:') ? path : `node:${path}`
      return kind === 'require-call' ? { path: name, namespace: 'required' } : { path: name, external: true }
    })
    onLoad({ filter: /.*/, namespace: 'required' }, ({ path }) => ({
      contents: `import found from '${path}'; module.exports = found`,
    }))
  },
}

/** Bundles a Worker that uses modules of Node, as wrangler does. */
export async function bundleForWorkerd(entry: string, outfile: string): Promise<void> {
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    conditions: ['workerd', 'browser'],
    mainFields: ['module', 'main'],
    external: ['cloudflare:*', '@modelcontextprotocol/*'],
    logLevel: 'silent',
    plugins: [nodeModules],
  })
}

/** The configuration of workerd for a bundle, with variables, on a port. It may connect to this machine. */
export function workerdConfig(bundle: string, port: number, env: Readonly<Record<string, string>>): string {
  const bindings = Object.entries(env).map(([name, text]) => `(name = "${name}", text = "${text}")`)
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "worker", esModule = embed "${bundle}")],
      compatibilityDate = "2026-11-01",
      bindings = [${bindings.join(', ')}]
    )),
    (name = "internet", network = (allow = ["public", "private", "local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);`
}
