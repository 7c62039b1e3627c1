import { demoKeys } from './demo-keys.ts'

export interface WelcomeOptions {
  url: string
  store: string
  models: string
  /** Whether the demo users exist. */
  keys: boolean
}

/** Returns the text that the terminal shows after the start. */
export function welcome({ url, store, models, keys }: WelcomeOptions): string {
  const width = Math.max(...demoKeys.map(({ key }) => key.length))
  return [
    '',
    '  Allium: a small support product',
    '',
    `  Chat    ${url}`,
    `  Admin   ${url}/admin`,
    '',
    ...(keys
      ? [
          '  Sign in with one of these keys:',
          ...demoKeys.map(({ key, who, what }) => `  ${key.padEnd(width)}   ${who}: ${what}`),
          '',
        ]
      : []),
    '  Then click "Refund a dented stove", approve the refund, and reload the page while an answer streams.',
    '',
    `  Store   ${store}`,
    `  Models  ${models}`,
    '',
    '  Ctrl-C stops the server.',
    '',
  ].join('\n')
}
