import { demoKeys } from './demo-keys.ts'

export interface WelcomeOptions {
  url: string
  store: string
  models: string
  /** Whether the people of the demo are there. */
  keys: boolean
}

/** What the terminal says once everything is up. */
export function welcome({ url, store, models, keys }: WelcomeOptions): string {
  const width = Math.max(...demoKeys.map(({ key }) => key.length))
  return [
    '',
    '  Allium: a support product in small',
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
    '  Then try: click "Refund a dented stove", approve it, and reload the page in the middle of an answer.',
    '',
    `  Store   ${store}`,
    `  Models  ${models}`,
    '',
    '  Ctrl-C ends it.',
    '',
  ].join('\n')
}
