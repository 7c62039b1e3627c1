#!/usr/bin/env node
import { main, tarballs, templatesDir } from './main.ts'

process.exitCode = await main(process.argv.slice(2), {
  cwd: process.cwd(),
  interactive: process.stdin.isTTY === true && process.stdout.isTTY === true && !process.env.CI,
  userAgent: process.env.npm_config_user_agent,
  templatesDir,
  tarballs,
})
