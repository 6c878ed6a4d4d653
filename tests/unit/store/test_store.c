/* store.c: what was put is found again, whole or not at all, and by its owner only. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../suite.h"
#include "store.h"
#include "vec.h"

static char folder[64];
static store st;

static void begin(void)
{
    const char *why = NULL;
    strcpy(folder, "/tmp/vsim-store-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    store_open(&st, folder, &why);
    ck_assert_msg(!why, "%s", why);
}

static void end(void)
{
    char cmd[100];
    store_close(&st);
    snprintf(cmd, sizeof cmd, "rm -rf %s", folder);
    ck_assert_int_eq(system(cmd), 0);
}

static hash128 key_of(const char *text) { return hash128_of(text, strlen(text)); }

static void put(const char *name, const char *data)
{
    const char *why = NULL;
    ck_assert_int_eq(store_put(&st, STORE_MODEL, key_of(name), data, strlen(data), &why), VS_OK);
    ck_assert_ptr_null(why);
}

static store_found found(const char *name, const char *data, const char **why)
{
    store_item item;
    const store_found f = store_get(&st, STORE_MODEL, key_of(name), &item, why);
    if (f == STORE_HIT) {
        ck_assert_uint_eq(item.size, strlen(data));
        ck_assert_int_eq(memcmp(item.data, data, item.size), 0);
        ck_assert_uint_eq((uintptr_t)item.data % 16, 0);
    }
    store_release(&item);
    return f;
}

/* The path of the only file. */
static void the_file(char path[200])
{
    store_view v;
    const char *why = NULL;
    ck_assert_int_eq(store_look(&v, folder, &why), VS_OK);
    ck_assert_uint_eq(vec_len(v.file), 1);
    snprintf(path, 200, "%s/%s", folder, v.file[0].name);
    store_look_fini(&v);
}

/* Changes the byte at `at`, from the end if negative. */
static void spoil(const char *path, long at)
{
    FILE *fp = fopen(path, "r+b");
    ck_assert_ptr_nonnull(fp);
    fseek(fp, at, at < 0 ? SEEK_END : SEEK_SET);
    const int c = fgetc(fp);
    fseek(fp, at, at < 0 ? SEEK_END : SEEK_SET);
    fputc(c ^ 1, fp);
    fclose(fp);
}

START_TEST(what_was_put_is_found_under_its_key_and_kind_only)
{
    const char *why = NULL;
    store_item item;
    ck_assert_int_eq(found("a", "", &why), STORE_MISS);
    put("a", "first");
    put("b", "second, longer");
    ck_assert_int_eq(found("a", "first", &why), STORE_HIT);
    ck_assert_int_eq(found("b", "second, longer", &why), STORE_HIT);
    ck_assert_int_eq(found("c", "", &why), STORE_MISS);
    ck_assert_int_eq(store_get(&st, STORE_KERNEL, key_of("a"), &item, &why), STORE_MISS);
    put("a", "again");
    ck_assert_int_eq(found("a", "again", &why), STORE_HIT);
}
END_TEST

START_TEST(every_changed_byte_and_every_lost_one_is_seen)
{
    char path[200];
    struct stat s;
    const char *why = NULL;
    put("a", "some bytes that matter");
    the_file(path);
    ck_assert_int_eq(stat(path, &s), 0);
    for (long at = 0; at < (long)s.st_size; at++) {
        if (at >= (long)s.st_size - 22 - 8 && at < (long)s.st_size - 22)
            continue; /* the last word of the head is not used */
        spoil(path, at);
        ck_assert_msg(found("a", "", &why) == STORE_BAD, "byte %ld", at);
        ck_assert_ptr_nonnull(why);
        spoil(path, at);
    }
    ck_assert_int_eq(found("a", "some bytes that matter", &why), STORE_HIT);
    for (off_t n = s.st_size - 1; n >= 0; n -= 7) {
        ck_assert_int_eq(truncate(path, n), 0);
        ck_assert_int_eq(found("a", "", &why), STORE_BAD);
    }
}
END_TEST

START_TEST(what_is_summed_later_is_its_users_care)
{
    char path[200];
    const char *why = NULL;
    store_item item;
    ck_assert_int_eq(store_put_now(&st, STORE_MODEL, key_of("a"), "head and tail", 13, 4, &why),
                     VS_OK);
    the_file(path);
    spoil(path, -1);
    ck_assert_int_eq(store_get(&st, STORE_MODEL, key_of("a"), &item, &why), STORE_HIT);
    ck_assert_uint_eq(item.now, 4);
    ck_assert_uint_eq(item.size, 13);
    const hash128 sum = store_sum((const char *)item.data + 4, 9), was = store_sum(" and tail", 9);
    ck_assert_int_ne(memcmp(&sum, &was, sizeof sum), 0);
    store_release(&item);
    spoil(path, -10); /* in the head */
    ck_assert_int_eq(found("a", "", &why), STORE_BAD);
}
END_TEST

START_TEST(files_that_others_may_write_are_not_trusted)
{
    char path[200];
    const char *why = NULL;
    store other;
    put("a", "x");
    the_file(path);
    ck_assert_int_eq(chmod(path, 0666), 0);
    ck_assert_int_eq(found("a", "x", &why), STORE_BAD);
    ck_assert_ptr_nonnull(strstr(why, "other users"));
    ck_assert_int_eq(chmod(path, 0600), 0);
    ck_assert_int_eq(found("a", "x", &why), STORE_HIT);
    ck_assert_int_eq(chmod(folder, 0777), 0);
    store_open(&other, folder, &why);
    ck_assert_ptr_null(other.dir);
    ck_assert_ptr_nonnull(strstr(why, "other users"));
    store_close(&other);
}
END_TEST

START_TEST(the_file_longest_not_used_goes_first)
{
    char big[1000];
    const char *why = NULL;
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = 0;
    st.max_bytes = 2500; /* two files */
    put("a", big);
    usleep(20000); /* times of files are as fine as the kernel's tick */
    put("b", big);
    usleep(20000);
    ck_assert_int_eq(found("a", big, &why), STORE_HIT); /* used after b */
    usleep(20000);
    put("c", big);
    ck_assert_int_eq(found("a", big, &why), STORE_HIT);
    ck_assert_int_eq(found("b", big, &why), STORE_MISS);
    ck_assert_int_eq(found("c", big, &why), STORE_HIT);
}
END_TEST

START_TEST(list_and_clear_leave_other_files_alone)
{
    char path[200];
    store_view v;
    const char *why = NULL;
    size_t n;
    uint64_t bytes;
    snprintf(path, sizeof path, "%s/mine.txt", folder);
    FILE *fp = fopen(path, "w");
    fputs("not the store's", fp);
    fclose(fp);
    put("a", "first");
    put("b", "second");
    ck_assert_int_eq(store_look(&v, folder, &why), VS_OK);
    ck_assert_uint_eq(vec_len(v.file), 2);
    const uint64_t total = v.total;
    store_look_fini(&v);
    ck_assert_int_eq(store_clear(folder, &n, &bytes, &why), VS_OK);
    ck_assert_uint_eq(n, 2);
    ck_assert_uint_eq(bytes, total);
    ck_assert_int_eq(access(path, R_OK), 0);
    ck_assert_int_eq(found("a", "first", &why), STORE_MISS);
}
END_TEST

START_TEST(without_a_folder_nothing_is_kept_and_nothing_fails)
{
    const char *why = NULL;
    store none;
    store_item item;
    store_open(&none, NULL, &why);
    ck_assert_ptr_nonnull(why);
    ck_assert_int_eq(store_get(&none, STORE_MODEL, key_of("a"), &item, &why), STORE_MISS);
    ck_assert_int_eq(store_put(&none, STORE_MODEL, key_of("a"), "x", 1, &why), VS_EIO);
    store_close(&none);
    store_view v;
    char path[200];
    snprintf(path, sizeof path, "%s/nothing/here", folder);
    ck_assert_int_eq(store_look(&v, path, &why), VS_OK); /* and it is not made */
    ck_assert_uint_eq(vec_len(v.file), 0);
    ck_assert_int_ne(access(path, F_OK), 0);
    store_look_fini(&v);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("store");
    TCase *t = tcase_create("store");
    tcase_add_checked_fixture(t, begin, end);
    tcase_add_test(t, what_was_put_is_found_under_its_key_and_kind_only);
    tcase_add_test(t, every_changed_byte_and_every_lost_one_is_seen);
    tcase_add_test(t, what_is_summed_later_is_its_users_care);
    tcase_add_test(t, files_that_others_may_write_are_not_trusted);
    tcase_add_test(t, the_file_longest_not_used_goes_first);
    tcase_add_test(t, list_and_clear_leave_other_files_alone);
    tcase_add_test(t, without_a_folder_nothing_is_kept_and_nothing_fails);
    suite_add_tcase(s, t);
    return run_suite(s);
}
