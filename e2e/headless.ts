/** How tests start Debian's Chromium. This build has no window, so it starts in a third of the CPU time. */
export const headless = {
  executablePath: '/usr/bin/chromium-headless-shell',
  args: ['--no-sandbox', '--disable-gpu'],
}
