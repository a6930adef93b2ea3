/** Takes the screenshot of docs/console.md: node services/console/screenshot.mjs [URL [USER]] */

import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { programPath } from '../../packages/local/dist/index.js';

const target = fileURLToPath(new URL('../../docs/images/console.png', import.meta.url));
const [url = 'http://127.0.0.1:8081', user = 'you'] = process.argv.slice(2);

const browser = await chromium.launch({
  executablePath: programPath('chromium') ?? 'chromium',
  args: ['--no-sandbox', '--disable-lcd-text'],
});
try {
  const page = await browser.newPage({ viewport: { width: 1120, height: 900 } });
  await page.goto(url);
  const list = page.locator('#recommended li');
  await list.first().waitFor();
  await page.locator('#user').fill(user);
  await page.keyboard.press('Enter');
  await page.getByText(`Recommended for ${user}`).waitFor();
  for (let nth = 0; nth < 3; nth++) {
    const status = await page.locator('#rate-status').textContent();
    await list
      .nth(nth)
      .getByRole('button', { name: /^5 of 5/ })
      .click();
    await page.waitForFunction((before) => {
      const now = document.getElementById('rate-status')?.textContent ?? '';
      return now !== before && now.includes('from the click to the new list');
    }, status);
  }
  await list.first().locator('.name').click();
  await page.locator('.reasons .total').waitFor();
  await page.mouse.move(0, 0);
  await page.screenshot({ path: target, fullPage: true });
} finally {
  await browser.close();
}
