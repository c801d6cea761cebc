/* SPDX-License-Identifier: MIT */
/* process_set_groups.c - control groups and containers as conditions of a target set. */
#include "process/process_groups_internal.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process/process_set_parts_internal.h"

/* Largest size of a list of processes that is read: more than 100,000 ids. */
#define LIST_LIMIT ((size_t)1 << 20)
/* Largest size of /proc/PID/cgroup, which has a path for each of some 15 hierarchies. */
#define GROUPS_LIMIT ((size_t)64 << 10)
/* Most directories that are searched for a container or a similar name. */
#define SEARCHED_MOST 65536

#define GROUP_MOUNTS "/sys/fs/cgroup"

/* --- matching ------------------------------------------------------------------------------ */

/* Returns true if the path, which ends with a newline or zero, is that of the rule or below it. */
static bool
path_is_in(const char *path, const struct group_rule *rule)
{
	const size_t length = strcmp(rule->path, "/") == 0 ? 0 : strlen(rule->path);

	return strncmp(path, rule->path, length) == 0 && strchr("/\n", path[length]) != NULL;
}

static bool
line_is_in(const char *controllers, const char *path, const struct group_rule *rule)
{
	const size_t length = (size_t)(path - controllers) - 1;

	if (rule->path == NULL)
		return container_id_in_path(path, rule->text);
	return path_is_in(path, rule) &&
	       (rule->mount == NULL || group_mount_has(rule->mount, controllers, length));
}

bool
group_rules_match(struct group_rules *rules, const char *text)
{
	bool matches = false;

	/* Lines "number:controllers:path". */
	for (const char *line = text, *next; *line != '\0'; line = next) {
		const char *first = strchr(line, ':');
		const char *second = first != NULL ? strchr(first + 1, ':') : NULL;

		next = line + strcspn(line, "\n");
		next += *next == '\n';
		if (second == NULL || second >= next)
			continue;
		for (size_t i = 0; i < rules->count; i++) {
			if (!line_is_in(first + 1, second + 1, &rules->rule[i]))
				continue;
			rules->rule[i].met = true;
			matches = true;
		}
	}
	return matches;
}

/* --- groups -------------------------------------------------------------------------------- */

static bool
is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static void
rules_add_root(struct group_rules *rules, const char *directory)
{
	rules->root = xgrow(rules->root, &rules->root_capacity, rules->root_count + 1,
			    sizeof(*rules->root));
	rules->root[rules->root_count++] = xstrdup(directory);
}

/* Returns the text as a path that begins with a slash, and has none at its end and no two together.
 */
static char *
normal_path(const char *text)
{
	struct strbuf sb = STRBUF_INIT;

	while (*text != '\0') {
		const size_t length = strcspn(text, "/");

		if (length > 0) {
			strbuf_add_text(&sb, "/");
			strbuf_add(&sb, text, length);
		}
		text += length + (text[length] == '/');
	}
	if (sb.length == 0)
		strbuf_add_text(&sb, "/");
	return sb.data;
}

/* Returns the mount whose directory has the longest path that contains `directory`, or NULL. */
static const struct group_mount *
mount_of_directory(const struct group_mounts *mounts, const char *directory)
{
	const struct group_mount *best = NULL;

	for (size_t i = 0; i < mounts->count; i++) {
		const struct group_mount *mount = &mounts->item[i];
		char *path = group_mount_path(mount, directory);

		if (path != NULL && (best == NULL || strlen(best->point) < strlen(mount->point)))
			best = mount;
		free(path);
	}
	return best;
}

static void
rules_add_group(struct group_rules *rules, const char *text)
{
	struct group_rule *rule = &rules->rule[rules->count++];
	char *path = normal_path(text);

	*rule = (struct group_rule){ .text = xstrdup(text), .path = path };
	rule->mount = mount_of_directory(&rules->mounts, path);
	if (rule->mount != NULL) {
		rule->exists = is_directory(path);
		rules_add_root(rules, path);
		rule->path = group_mount_path(rule->mount, path);
		free(path);
		return;
	}
	for (size_t i = 0; i < rules->mounts.count; i++) {
		char *directory = group_mount_directory(&rules->mounts.item[i], path);

		if (directory != NULL) {
			rule->exists |= is_directory(directory);
			rules_add_root(rules, directory);
		}
		free(directory);
	}
}

/* --- search -------------------------------------------------------------------------------- */

/* Calls found(context, path, directory) for each group of all hierarchies, and for the path of each
 * group that a process is in, with NULL as `directory`. Ends when it returns true. */
static void
search_groups(const struct group_rules *rules,
	      bool (*found)(void *context, const char *path, const char *directory), void *context)
{
	struct group_walk walk = { .directory = NULL };
	size_t searched = 0;
	bool end = false;
	char *directory;

	for (size_t i = 0; i < rules->mounts.count; i++)
		group_walk_add(&walk, rules->mounts.item[i].point);
	while (!end && searched++ < SEARCHED_MOST && (directory = group_walk_next(&walk)) != NULL) {
		end = found(context, directory, directory);
		free(directory);
	}
	group_walk_release(&walk);
}

static void
search_processes(bool (*found)(void *context, const char *path, const char *directory),
		 void *context)
{
	struct proc_listing listing;
	bool end = false;
	pid_t pid;

	proc_listing_init(&listing);
	while (!end && (pid = proc_listing_next(&listing)) > 0) {
		char name[32], *text, *rest, *line;

		snprintf(name, sizeof(name), "%d/cgroup", (int)pid);
		rest = text = file_read_text(listing.fd, name, GROUPS_LIMIT, NULL);
		while (!end && (line = strsep(&rest, "\n")) != NULL) {
			const char *path = strchr(line, '/');

			end = path != NULL && found(context, path, NULL);
		}
		free(text);
	}
	proc_listing_release(&listing);
}

/* --- containers ---------------------------------------------------------------------------- */

/* Most containers that are distinguished, for the message. */
#define CONTAINERS_MOST 4

struct container_search {
	const char *digits;
	char id[CONTAINERS_MOST][CONTAINER_ID_LENGTH + 1];
	size_t count;
	struct group_rules *rules; /* gets the directories */
};

static bool
found_container(void *context, const char *path, const char *directory)
{
	struct container_search *search = context;
	const char *cursor = path, *id;

	while ((id = container_id_next(&cursor)) != NULL) {
		size_t i = 0;

		if (strncmp(id, search->digits, strlen(search->digits)) != 0)
			continue;
		/* The group itself, not one below it. */
		if (directory != NULL && *cursor == '\0')
			rules_add_root(search->rules, directory);
		while (i < search->count && strncmp(search->id[i], id, CONTAINER_ID_LENGTH) != 0)
			i++;
		if (i == search->count && i < CONTAINERS_MOST)
			memcpy(search->id[search->count++], id, CONTAINER_ID_LENGTH);
	}
	return search->count == CONTAINERS_MOST;
}

static int
refuse_ambiguous(const struct container_search *search, struct error *err)
{
	struct strbuf sb = STRBUF_INIT;
	const size_t shown = strlen(search->digits) + 8;
	int rc;

	for (size_t i = 0; i < search->count && i < CONTAINERS_MOST - 1; i++)
		strbuf_add_format(&sb, "%s%.*s", i > 0 ? ", " : "", (int)shown, search->id[i]);
	rc = error_set(err, ERROR_AMBIGUOUS,
		       "several containers have ids that begin with '%s': %s%s; give more digits",
		       search->digits, sb.data, search->count == CONTAINERS_MOST ? ", …" : "");
	strbuf_release(&sb);
	return rc;
}

static int
rules_add_container(struct group_rules *rules, const char *text, bool may_start_empty,
		    struct error *err)
{
	struct group_rule *rule = &rules->rule[rules->count];
	struct container_search search = { .rules = rules };
	char digits[CONTAINER_ID_LENGTH + 1];
	int rc = container_id_check(text, digits, err);

	if (rc != 0)
		return rc;
	search.digits = digits;
	search_groups(rules, found_container, &search);
	search_processes(found_container, &search);
	if (search.count > 1)
		return refuse_ambiguous(&search, err);
	if (search.count == 0 && !(may_start_empty && strlen(digits) == CONTAINER_ID_LENGTH))
		return error_set(
			err, ERROR_NO_MATCH,
			"there is no container whose id begins with '%s': no cgroup has such a "
			"name; docker ps, podman ps and crictl ps show the ids "
			"of the containers that run, and wallsample in a container sees "
			"only its own",
			digits);
	*rule = (struct group_rule){ .text = xstrdup(search.count > 0 ? search.id[0] : digits),
				     .exists = true };
	rules->count++;
	return 0;
}

/* --- all ----------------------------------------------------------------------------------- */

int
group_rules_init(struct group_rules *rules, const struct process_set_config *config,
		 struct error *err)
{
	const size_t most = config->cgroups.count + config->containers.count;
	int rc = 0;

	*rules = (struct group_rules){ .rule = NULL };
	if (most == 0)
		return 0;
	rules->rule = xcalloc(most, sizeof(*rules->rule));
	group_mounts_read(&rules->mounts);
	for (size_t i = 0; i < config->cgroups.count; i++)
		rules_add_group(rules, config->cgroups.text[i]);
	for (size_t i = 0; i < config->containers.count && rc == 0; i++)
		rc = rules_add_container(rules, config->containers.text[i], config->may_start_empty,
					 err);
	return rc;
}

void
group_rules_release(struct group_rules *rules)
{
	for (size_t i = 0; i < rules->count; i++) {
		free(rules->rule[i].text);
		free(rules->rule[i].path);
	}
	for (size_t i = 0; i < rules->root_count; i++)
		free(rules->root[i]);
	free(rules->rule);
	free(rules->root);
	group_mounts_release(&rules->mounts);
	group_walk_release(&rules->walk);
	*rules = (struct group_rules){ .rule = NULL };
}

/* Context of found_similar(). */
struct similar {
	const char *name; /* the end of a path */
	const struct group_rules *rules;
	char *path; /* that was found */
};

static bool
found_similar(void *context, const char *directory, const char *also_directory)
{
	struct similar *similar = context;
	const size_t length = strlen(directory), size = strlen(similar->name);
	const struct group_mount *mount;

	(void)also_directory;
	if (length <= size || strcmp(directory + length - size, similar->name) != 0)
		return false;
	mount = mount_of_directory(&similar->rules->mounts, directory);
	similar->path = mount != NULL ? group_mount_path(mount, directory) : NULL;
	return similar->path != NULL;
}

static int
refuse_unknown(const struct group_rules *rules, const struct group_rule *rule, struct error *err)
{
	struct similar similar = { .rules = rules };
	char shown[TASK_NAME_SIZE], other[2 * TASK_NAME_SIZE], *name = normal_path(rule->text);
	int rc;

	similar.name = name;
	task_printable(rule->text, shown, sizeof(shown));
	search_groups(rules, found_similar, &similar);
	if (similar.path != NULL)
		rc = error_set(err, ERROR_NO_MATCH,
			       "there is no cgroup '%s'; there is one with the path %s", shown,
			       task_printable(similar.path, other, sizeof(other)));
	else
		rc = error_set(err, ERROR_NO_MATCH,
			       "there is no cgroup '%s'; /proc/PID/cgroup has the paths of "
			       "a process, such as /system.slice/nginx.service%s",
			       shown,
			       strncmp(name, GROUP_MOUNTS "/", strlen(GROUP_MOUNTS "/")) == 0 ?
				       ", and of several hierarchies each has a directory of its "
				       "own in " GROUP_MOUNTS :
				       "");
	free(similar.path);
	free(name);
	return rc;
}

int
group_rules_check(const struct group_rules *rules, struct error *err)
{
	for (size_t i = 0; i < rules->count; i++) {
		const struct group_rule *rule = &rules->rule[i];
		char shown[TASK_NAME_SIZE];

		if (rule->met)
			continue;
		if (!rule->exists)
			return refuse_unknown(rules, rule, err);
		return error_set(err, ERROR_NO_MATCH, "there is no process in the %s '%s'",
				 rule->path != NULL ? "cgroup" : "container",
				 task_printable(rule->text, shown, sizeof(shown)));
	}
	return 0;
}

void
group_rules_rewind(struct group_rules *rules)
{
	group_walk_release(&rules->walk);
	for (size_t i = 0; i < rules->root_count; i++)
		group_walk_add(&rules->walk, rules->root[i]);
}

bool
group_rules_next_list(struct group_rules *rules, char **text)
{
	struct strbuf name = STRBUF_INIT;
	char *directory = group_walk_next(&rules->walk);

	if (directory == NULL)
		return false;
	strbuf_add_format(&name, "%s/cgroup.procs", directory);
	*text = file_read_text(AT_FDCWD, name.data, LIST_LIMIT, NULL);
	strbuf_release(&name);
	free(directory);
	return true;
}
