/** The settings of src/settings/settings.ts as flags and as rows of docs/configuration.md. */
import { Option, type Command } from 'commander';
import { z } from 'zod';
import { snake } from '../api/snake-case.js';
import { environmentName, loadConfig, type Config } from '../settings/config.js';
import { settings } from '../settings/settings.js';

const schemaShape = z.object({
  type: z.string().optional(),
  enum: z.array(z.string()).optional(),
  default: z.unknown(),
  description: z.string().optional(),
});

/** Defaults that the machine decides, so that a page about them is the same everywhere. */
const MACHINE_DEFAULTS: Record<string, string> = { threads: 'CPU cores' };

/** Placeholders of settings with paths, by the ends of their names. */
const PATH_KINDS = [
  ['Dir', 'folder'],
  ['File', 'file'],
  ['Roots', 'folders'],
] as const;

/** A setting that the text of another one names; a name of one word may be a word of the text. */
const SETTING_NAME = new RegExp(
  `\\b(${Object.keys(settings)
    .filter((key) => key !== key.toLowerCase())
    .join('|')})\\b`,
  'g',
);
const flagOf = (key: string): string => `--${snake(key).replaceAll('_', '-')}`;

type SettingName = keyof typeof settings;
const ALL = Object.keys(settings) as SettingName[];

const described = new Map<SettingName, ReturnType<typeof describe>>();

/**
 * Describes the settings in the order of src/settings/settings.ts. Each is described once, because a dozen commands
 * have flags of settings.
 */
export function describeSettings(keys: readonly SettingName[] = ALL) {
  return ALL.filter((key) => keys.includes(key)).map((key) => {
    const setting = described.get(key) ?? describe(key);
    described.set(key, setting);
    return setting;
  });
}

function describe(key: SettingName) {
  const shape = schemaShape.parse(z.toJSONSchema(settings[key], { io: 'output' }));
  return {
    key,
    /** Environment variable. */
    name: environmentName(key),
    flag: flagOf(key),
    /** The default as a user would write it; '' if there is none. */
    fallback: MACHINE_DEFAULTS[key] ?? String(shape.default),
    meaning: (shape.description ?? '').replaceAll(SETTING_NAME, flagOf),
    /** Placeholder of the flag's value; null for a flag without a value. */
    value: valueOf(key, shape),
  };
}

/** Adds a flag for each of `keys` (all by default), and `--config`. The given texts go to `loadConfig` unchanged. */
export function addSettingFlags(command: Command, keys?: readonly SettingName[]): Command {
  for (const setting of describeSettings(keys)) {
    const fallback =
      setting.fallback === '' || setting.value === null ? '' : ` (default: ${setting.fallback})`;
    const option = new Option(
      setting.value === null ? setting.flag : `${setting.flag} <${setting.value}>`,
      `${setting.meaning}${fallback}`,
    );
    // Stands alone on the command line; the schema reads text, as from the environment.
    if (setting.value === null) option.preset('true');
    command.addOption(option);
  }
  return command.option(
    '--config <file>',
    'JSON file with settings, its keys in camel case (imageRoots)',
  );
}

/** The flags of settings that were given, as they are typed. */
export function givenSettings(flags: object): string[] {
  return Object.keys(flags).filter(isSetting).map(flagOf);
}

const isSetting = (key: string): boolean => key in settings || key === 'config';

/** The settings among the flags of a command, with those of the environment. Throws `ConfigError`. */
export function configOf(flags: object): Config {
  return loadConfig(Object.fromEntries(Object.entries(flags).filter(([key]) => isSetting(key))));
}

function valueOf(key: SettingName, shape: z.infer<typeof schemaShape>): string | null {
  // A setting that is on by default needs a value that turns it off.
  if (shape.type === 'boolean') return shape.default === true ? 'true|false' : null;
  if (shape.enum !== undefined) return shape.enum.join('|');
  if (shape.type !== 'string') return 'number';
  return PATH_KINDS.find(([end]) => key.endsWith(end))?.[1] ?? 'text';
}
