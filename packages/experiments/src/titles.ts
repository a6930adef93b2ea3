/** Titles of invented items: combinations of a few words per category, each title once. */

/** By category: adjectives / nouns. */
const wordings: Record<string, string> = {
  Adventure:
    'Lost Northern Bold Distant Hidden Roaring Endless Reckless / River Summit Expedition Compass Island Voyage Caravan Pass',
  Animation:
    'Tiny Paper Clockwork Painted Bouncing Woolly Curious Striped / Fox Balloon Teapot Hedgehog Lighthouse Snowman Otter Kite',
  Comedy:
    'Unlikely Sunday Borrowed Awkward Terrible Cheerful Second Rented / Wedding Neighbour Butler Holiday Parrot Speech Waiter Cousin',
  Crime:
    'Crooked Silent Midnight Honest Marked Loaded Missing Cold / Ledger Witness Alibi Heist Informer Verdict Safe Syndicate',
  Documentary:
    'Living Vanishing Ordinary Unseen Shared Measured Working Open / Glacier Harvest Archive Reef Orchestra Workshop Railway Ocean',
  Drama:
    'Quiet Broken Patient Long Unwritten Faithful Bitter Late / Letter Daughter Autumn Promise Garden Inheritance Kitchen Winter',
  Fantasy:
    'Silver Sleeping Enchanted Forgotten Moonlit Thorned Last Whispering / Crown Dragon Forest Oath Mirror Wizard Tower Raven',
  Horror:
    'Hollow Crawling Pale Buried Restless Nameless Sunken Screaming / Cellar Thing Orchard Hour Doll Attic Well Guest',
  Musical:
    'Dancing Golden Velvet Singing Electric Barefoot Brass Spinning / Chorus Ballroom Trumpet Parade Matinee Encore Melody Stage',
  Mystery:
    'Seventh Locked Vanished Scarlet Curious Double Unsigned Veiled / Key Passenger Portrait Cipher Footprint Diary Clock Will',
  Romance:
    'Gentle Stolen Summer Tender Secret Returning Lovely Breathless / Kiss Spring Valentine Rendezvous Serenade Heart Proposal Waltz',
  'Science fiction':
    'Orbital Quantum Synthetic Stellar Infinite Dark Frozen Automatic / Colony Signal Android Horizon Engine Nebula Paradox Probe',
};

const places = (
  'Harrow Point, the Old Town, Marrow Street, Saint Elm, the Far Shore, Willow County, ' +
  'Port Amber, the High Road, Larkfield, Juniper Bay, the Valley, Castle Row'
).split(', ');

/** The categories, in the order in which every generated world numbers them. */
export const categories: readonly string[] = Object.keys(wordings);

/** The nth title of a category; different for every n. */
export function titleOf(category: number, nth: number): string {
  const [adjectives, nouns] = wordings[categories[category]]
    .split(' / ')
    .map((words) => words.split(' '));
  const pairs = adjectives.length * nouns.length;
  const placed = nouns.length * places.length;
  const perEdition = pairs + placed;
  const edition = Math.floor(nth / perEdition);
  // 37 and 5 have no common factor with 64 and 96, so that these steps reach every combination.
  const within = nth % perEdition;
  const short = (within * 37) % pairs;
  const long = ((within - pairs) * 5) % placed;
  const adjective = adjectives[short % adjectives.length];
  const noun = nouns[Math.floor(short / adjectives.length)];
  const place = places[Math.floor(long / nouns.length)];
  const title =
    within < pairs ? `The ${adjective} ${noun}` : `The ${nouns[long % nouns.length]} of ${place}`;
  return edition === 0 ? title : `${title}, Part ${edition + 1}`;
}
