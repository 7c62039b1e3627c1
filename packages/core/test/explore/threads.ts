/** How much the platform's cryptography is at in threads of its own. Virtual time has to wait for it: an approval is signed there. */
export const threads = { busy: 0 }

for (const name of ['digest', 'importKey', 'sign'] as const) {
  const work = crypto.subtle[name].bind(crypto.subtle) as (...given: unknown[]) => Promise<unknown>
  const value = (...given: unknown[]) => {
    threads.busy++
    return work(...given).finally(() => threads.busy--)
  }
  Object.defineProperty(crypto.subtle, name, { value, configurable: true })
}
